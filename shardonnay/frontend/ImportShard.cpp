//===- ImportShard.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Grids become meshes (`importGrid`).
// 2. In the order of the program, annotations become shardings and constraints
//    (`importAnnotation`), collectives and indices ops of `spmd`.
// 3. What only stated a sharding goes.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/frontend/ShardGrids.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_IMPORTSHARDPASS
#include "shardonnay/frontend/Passes.h.inc"

namespace {

/// `op` asks for a size that a grid of `?` does not say.
LogicalResult refuseUnsized(Operation *op, int16_t axis) {
  return op->emitError() << "needs the size of axis " << axis
                         << " of the grid, which is '?'; expected a number";
}

class Importer {
public:
  explicit Importer(ModuleOp module)
      : module(module), builder(module.getContext()) {}

  LogicalResult run();

private:
  LogicalResult importGrid(shard::GridOp op);
  LogicalResult importOp(Operation *op);
  LogicalResult importAnnotation(shard::ShardOp op);
  FailureOr<sdy::TensorShardingAttr> convert(shard::ShardingOp op,
                                             RankedTensorType type);
  LogicalResult checkOffsets(shard::ShardingOp op, RankedTensorType type);

  template <typename OpT> LogicalResult importCollective(OpT op);
  Value build(shard::AllGatherOp op, sdy::AxisRefListAttr axes);
  Value build(shard::AllReduceOp op, sdy::AxisRefListAttr axes);
  Value build(shard::AllSliceOp op, sdy::AxisRefListAttr axes);
  Value build(shard::AllToAllOp op, sdy::AxisRefListAttr axes);
  Value build(shard::ReduceScatterOp op, sdy::AxisRefListAttr axes);
  LogicalResult importIndex(shard::ProcessMultiIndexOp op);
  LogicalResult importIndex(shard::ProcessLinearIndexOp op);
  LogicalResult importShape(shard::GridShapeOp op);

  /// Null if the module has no grid of that name.
  sdy::MeshAttr meshOf(StringRef grid) { return meshes.lookup(grid); }
  /// The mesh axes that `axes` of the grid are; fails with an error at `op`.
  FailureOr<SmallVector<sdy::AxisRefAttr>> axesOf(Operation *op, StringRef grid,
                                                  ArrayRef<int16_t> axes);
  /// The same of a collective whose types are static and which exchanges
  /// something; null if it does nothing.
  template <typename OpT> FailureOr<sdy::AxisRefListAttr> groupOf(OpT op);
  /// This device's index along `axes`, an `index`.
  Value indexAlong(Location loc, FlatSymbolRefAttr mesh,
                   ArrayRef<sdy::AxisRefAttr> axes);
  LogicalResult replace(Operation *op, ValueRange values) {
    op->replaceAllUsesWith(values);
    op->erase();
    return success();
  }

  ModuleOp module;
  OpBuilder builder;
  llvm::StringMap<sdy::MeshAttr> meshes;
};

LogicalResult Importer::importGrid(shard::GridOp op) {
  SmallVector<sdy::MeshAxisAttr> axes;
  for (auto [number, size] : llvm::enumerate(op.getShape())) {
    axes.push_back(sdy::MeshAxisAttr::get(
        op.getContext(), ("axis_" + Twine(number)).str(), size));
  }
  auto mesh = sdy::MeshAttr::get(op.getContext(), axes, {});
  builder.setInsertionPoint(op);
  sdy::MeshOp::create(builder, op.getLoc(), op.getSymName(), mesh);
  meshes[op.getSymName()] = mesh;
  op.erase();
  return success();
}

FailureOr<SmallVector<sdy::AxisRefAttr>>
Importer::axesOf(Operation *op, StringRef grid, ArrayRef<int16_t> axes) {
  sdy::MeshAttr mesh = meshOf(grid);
  if (!mesh)
    return op->emitError() << "names the grid @" << grid
                           << ", expected a 'shard.grid' of the module";
  auto numAxes = static_cast<int16_t>(mesh.getAxes().size());
  SmallVector<sdy::AxisRefAttr> result;
  for (int16_t axis : axes) {
    if (axis < 0 || axis >= numAxes)
      return op->emitError() << "names axis " << axis << " of the grid @"
                             << grid << ", which has " << numAxes;
    result.push_back(sdy::AxisRefAttr::get(
        op->getContext(), mesh.getAxes()[axis].getName(), nullptr));
  }
  return result;
}

LogicalResult Importer::checkOffsets(shard::ShardingOp op,
                                     RankedTensorType type) {
  if (!op.getStaticHaloSizes().empty() || !op.getDynamicHaloSizes().empty())
    return op.emitError()
           << "has halo sizes, expected none: a sharding divides the tensor, "
              "and what an op needs of its neighbours is fetched for it";
  ArrayRef<int64_t> given = op.getStaticShardedDimsOffsets();
  if (!op.getDynamicShardedDimsOffsets().empty())
    return op.emitError() << "has offsets of shards that are computed, "
                             "expected constants";
  if (given.empty())
    return success();
  SmallVector<int64_t> expected;
  for (auto [dim, axes] : llvm::enumerate(op.getSplitAxes().getAxes())) {
    if (axes.empty())
      continue;
    int64_t shards = 1;
    for (int16_t axis : axes.asArrayRef())
      shards *= meshOf(op.getGrid()).getAxes()[axis].getSize();
    llvm::append_range(expected, evenOffsets(type.getDimSize(dim), shards));
  }
  if (given == ArrayRef(expected))
    return success();
  InFlightDiagnostic error =
      op.emitError()
      << "has shards of sizes of its own, expected the offsets [";
  llvm::interleaveComma(expected, error);
  return error << "] for " << type
               << ": all shards are of one size but the last ones";
}

FailureOr<sdy::TensorShardingAttr> Importer::convert(shard::ShardingOp op,
                                                     RankedTensorType type) {
  MLIRContext *context = op.getContext();
  ArrayRef<shard::GridAxesAttr> split = op.getSplitAxes().getAxes();
  if (static_cast<int64_t>(split.size()) > type.getRank())
    return op.emitError() << "has axes for " << split.size()
                          << " dims, but is used for " << type << ", which has "
                          << type.getRank();
  SmallVector<sdy::DimensionShardingAttr> dims(
      type.getRank(),
      sdy::DimensionShardingAttr::get(context, {}, true, std::nullopt));
  for (auto [dim, gridAxes] : llvm::enumerate(split)) {
    FailureOr<SmallVector<sdy::AxisRefAttr>> axes =
        axesOf(op, op.getGrid(), gridAxes.asArrayRef());
    if (failed(axes))
      return failure();
    dims[dim] =
        sdy::DimensionShardingAttr::get(context, *axes, true, std::nullopt);
  }
  if (failed(checkOffsets(op, type)))
    return failure();
  return sdy::TensorShardingAttr::get(context, op.getGridAttr(), dims);
}

/// The value can have a sharding of its own.
bool mayHaveSharding(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp()) ||
           getEdgeOwner(value);
  return true;
}

LogicalResult Importer::importAnnotation(shard::ShardOp op) {
  auto stated = op.getSharding().getDefiningOp<shard::ShardingOp>();
  if (!stated)
    return op.emitError() << "has a sharding that is computed, expected one "
                             "that 'shard.sharding' states";
  Value value = op.getSrc();
  FailureOr<sdy::TensorShardingAttr> sharding =
      convert(stated, cast<RankedTensorType>(value.getType()));
  if (failed(sharding))
    return failure();
  if (!op.getAnnotateForUsers() &&
      isa_and_present<sdy::ShardingConstraintOp>(value.getDefiningOp()))
    return op.emitError() << "annotates a value behind 'annotate_for_users', "
                             "expected the annotation of the value first";
  if (op.getAnnotateForUsers() || !mayHaveSharding(value)) {
    builder.setInsertionPoint(op);
    return replace(op, sdy::ShardingConstraintOp::create(builder, op.getLoc(),
                                                         value, *sharding)
                           ->getResults());
  }
  sdy::TensorShardingAttr present = sdy::getSharding(value);
  if (present && present != *sharding)
    return op.emitError() << "annotates a value that has the sharding "
                          << present << " already, with " << *sharding
                          << "; expected one: say 'annotate_for_users' if it "
                             "is meant for what follows";
  sdy::setSharding(value, *sharding);
  return replace(op, value);
}

template <typename OpT>
FailureOr<sdy::AxisRefListAttr> Importer::groupOf(OpT op) {
  for (Type each : {Type(op.getInput().getType()), Type(op.getType())}) {
    auto tensor = dyn_cast<RankedTensorType>(each);
    if (!tensor || !tensor.hasStaticShape())
      return op.emitError()
             << "works on " << each << ", expected tensors of static shapes";
  }
  FailureOr<SmallVector<sdy::AxisRefAttr>> axes =
      axesOf(op, op.getGrid(), op.getGridAxes());
  if (failed(axes))
    return failure();
  for (int16_t axis : op.getGridAxes())
    if (!meshOf(op.getGrid()).getAxes()[axis].hasSize())
      return refuseUnsized(op, axis);
  return axes->empty() ? nullptr
                       : sdy::AxisRefListAttr::get(op.getContext(), *axes);
}

/// Ours; nothing of what partial values do not have.
std::optional<ReductionKind> toKind(shard::ReductionKind kind) {
  switch (kind) {
  case shard::ReductionKind::Sum:
    return ReductionKind::Sum;
  case shard::ReductionKind::Max:
    return ReductionKind::Max;
  case shard::ReductionKind::Min:
    return ReductionKind::Min;
  default:
    return std::nullopt;
  }
}

template <typename OpT> LogicalResult checkReduction(OpT op) {
  Type from = getElementTypeOrSelf(op.getInput().getType()),
       to = getElementTypeOrSelf(op.getType());
  if (from != to)
    return op.emitError() << "adds up " << from << " as " << to
                          << ", expected one element type; convert before";
  if (!toKind(op.getReduction()))
    return op.emitError() << "reduces by '"
                          << shard::stringifyReductionKind(op.getReduction())
                          << "', expected sum, max or min";
  return success();
}

template <typename OpT> LogicalResult Importer::importCollective(OpT op) {
  FailureOr<sdy::AxisRefListAttr> axes = groupOf(op);
  if (failed(axes))
    return failure();
  if constexpr (llvm::is_one_of<OpT, shard::AllReduceOp,
                                shard::ReduceScatterOp>::value)
    if (failed(checkReduction(op)))
      return failure();
  builder.setInsertionPoint(op);
  return replace(op, *axes ? build(op, *axes) : op.getInput());
}

Value Importer::build(shard::AllGatherOp op, sdy::AxisRefListAttr axes) {
  return spmd::AllGatherOp::create(
      builder, op.getLoc(), op.getType(), op.getInput(),
      op.getGatherAxis().getSExtValue(), op.getGrid(), axes);
}

Value Importer::build(shard::AllSliceOp op, sdy::AxisRefListAttr axes) {
  return spmd::AllSliceOp::create(
      builder, op.getLoc(), op.getType(), op.getInput(),
      op.getSliceAxis().getSExtValue(), op.getGrid(), axes);
}

Value Importer::build(shard::AllToAllOp op, sdy::AxisRefListAttr axes) {
  return spmd::AllToAllOp::create(
      builder, op.getLoc(), op.getType(), op.getInput(),
      op.getSplitAxis().getSExtValue(), op.getConcatAxis().getSExtValue(),
      op.getGrid(), axes);
}

Value Importer::build(shard::AllReduceOp op, sdy::AxisRefListAttr axes) {
  return spmd::AllReduceOp::create(builder, op.getLoc(), op.getType(),
                                   op.getInput(), op.getGrid(), axes,
                                   *toKind(op.getReduction()));
}

Value Importer::build(shard::ReduceScatterOp op, sdy::AxisRefListAttr axes) {
  return spmd::ReduceScatterOp::create(
      builder, op.getLoc(), op.getType(), op.getInput(),
      op.getScatterAxis().getSExtValue(), op.getGrid(), axes,
      *toKind(op.getReduction()));
}

Value Importer::indexAlong(Location loc, FlatSymbolRefAttr mesh,
                           ArrayRef<sdy::AxisRefAttr> axes) {
  Value tensor = spmd::DeviceIndexOp::create(
      builder, loc, RankedTensorType::get({}, builder.getI32Type()), mesh,
      sdy::AxisRefListAttr::get(builder.getContext(), axes));
  Value number = tensor::ExtractOp::create(builder, loc, tensor, ValueRange());
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    number);
}

/// `axes`, or all of the grid if there are none.
SmallVector<int16_t> orAll(ArrayRef<int16_t> axes, sdy::MeshAttr mesh) {
  if (!axes.empty() || !mesh)
    return SmallVector<int16_t>(axes);
  return llvm::to_vector(llvm::seq<int16_t>(0, mesh.getAxes().size()));
}

LogicalResult Importer::importIndex(shard::ProcessMultiIndexOp op) {
  auto axes =
      axesOf(op, op.getGrid(), orAll(op.getAxes(), meshOf(op.getGrid())));
  if (failed(axes))
    return failure();
  builder.setInsertionPoint(op);
  SmallVector<Value> indices;
  for (sdy::AxisRefAttr axis : *axes)
    indices.push_back(indexAlong(op.getLoc(), op.getGridAttr(), axis));
  return replace(op, indices);
}

LogicalResult Importer::importIndex(shard::ProcessLinearIndexOp op) {
  auto axes = axesOf(op, op.getGrid(), orAll({}, meshOf(op.getGrid())));
  if (failed(axes))
    return failure();
  builder.setInsertionPoint(op);
  return replace(op, indexAlong(op.getLoc(), op.getGridAttr(), *axes));
}

LogicalResult Importer::importShape(shard::GridShapeOp op) {
  sdy::MeshAttr mesh = meshOf(op.getGrid());
  if (failed(axesOf(op, op.getGrid(), op.getAxes())))
    return failure();
  builder.setInsertionPoint(op);
  SmallVector<Value> sizes;
  for (int16_t axis : orAll(op.getAxes(), mesh)) {
    if (!mesh.getAxes()[axis].hasSize())
      return refuseUnsized(op, axis);
    sizes.push_back(arith::ConstantIndexOp::create(
        builder, op.getLoc(), mesh.getAxes()[axis].getSize()));
  }
  return replace(op, sizes);
}

LogicalResult Importer::importOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](shard::ShardOp op) { return importAnnotation(op); })
      .Case([&](shard::ShardingOp) { return success(); })
      .Case<shard::AllGatherOp, shard::AllReduceOp, shard::AllSliceOp,
            shard::AllToAllOp, shard::ReduceScatterOp>(
          [&](auto op) { return importCollective(op); })
      .Case<shard::ProcessMultiIndexOp, shard::ProcessLinearIndexOp>(
          [&](auto op) { return importIndex(op); })
      .Case([&](shard::GridShapeOp op) { return importShape(op); })
      .Default([](Operation *op) {
        return op->emitError()
               << "has no form here; expected annotations, all_gather, "
                  "all_reduce, all_slice, all_to_all, reduce_scatter, and "
                  "indices of the process";
      });
}

LogicalResult Importer::run() {
  for (auto grid : llvm::make_early_inc_range(module.getOps<shard::GridOp>()))
    if (failed(importGrid(grid)))
      return failure();
  SmallVector<Operation *> ops;
  SmallVector<shard::ShardingOp> stated;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto sharding = dyn_cast<shard::ShardingOp>(op))
      stated.push_back(sharding);
    else if (isa_and_present<shard::ShardDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(importOp(op)))
      return failure();
  for (shard::ShardingOp op : stated) {
    if (!op->use_empty())
      return op.emitError() << "is used by another op than 'shard.shard', "
                               "expected annotations only";
    op.erase();
  }
  return success();
}

struct ImportShardPass : impl::ImportShardPassBase<ImportShardPass> {
  void runOnOperation() override {
    if (failed(Importer(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace shardonnay
