//===- EmitStablehlo.cpp - the per-device program in StableHLO ------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. emit: each spmd op and sdy.constant becomes StableHLO, in place.
// 2. The meshes go; checkNothingLeft: no other sdy or spmd op is left.
// 3. setModuleAttributes: as many partitions as the mesh has devices.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/SymbolTable.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/emit/DeviceIndex.h"
#include "shardonnay/emit/EmitWindow.h"
#include "shardonnay/emit/OrderedBits.h"
#include "shardonnay/emit/Passes.h"
#include "shardonnay/emit/ReplicaGroups.h"
#include "shardonnay/emit/SliceGuard.h"
#include "llvm/ADT/TypeSwitch.h"

namespace shardonnay {

#define GEN_PASS_DEF_EMITSTABLEHLOPASS
#include "shardonnay/emit/Passes.h.inc"

using namespace mlir;

namespace {

/// What PJRT on CPU can combine: everything except an order of complex numbers.
bool canCombine(Type element, ReductionKind kind) {
  return kind == ReductionKind::Sum || !isa<ComplexType>(element);
}

/// Fills `region` with the binary op of `kind` on scalars of `element`.
void buildCombiner(Region &region, Type element, ReductionKind kind,
                   Location loc) {
  OpBuilder builder(region.getContext());
  auto scalar = RankedTensorType::get({}, element);
  Block *block = builder.createBlock(&region, {}, {scalar, scalar}, {loc, loc});
  Value lhs = block->getArgument(0), rhs = block->getArgument(1);
  Value result;
  switch (kind) {
  case ReductionKind::Sum:
    result = stablehlo::AddOp::create(builder, loc, lhs, rhs);
    break;
  case ReductionKind::Max:
    result = stablehlo::MaxOp::create(builder, loc, lhs, rhs);
    break;
  case ReductionKind::Min:
    result = stablehlo::MinOp::create(builder, loc, lhs, rhs);
    break;
  }
  stablehlo::ReturnOp::create(builder, loc, result);
}

/// Emits one op after the other, each in its place.
class Emitter {
public:
  explicit Emitter(MLIRContext *context)
      : builder(context),
        channel(stablehlo::ChannelHandleAttr::get(context, /*handle=*/1,
                                                  /*type=*/1)) {}

  /// Replaces `op` if it is one that has a StableHLO form. Fails with an error
  /// at `op` if the target lacks that form.
  LogicalResult emit(Operation *op) {
    builder.setInsertionPoint(op);
    if (auto unpack = dyn_cast<spmd::UnpackOp>(op)) {
      emitUnpack(unpack);
      return success();
    }
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<sdy::ConstantOp, spmd::DeviceIndexOp, spmd::AllSliceOp,
              spmd::AllGatherOp, spmd::AllToAllOp, spmd::AllReduceOp,
              spmd::ReduceScatterOp, spmd::CollectivePermuteOp,
              spmd::FetchWindowOp, spmd::PackOp>([&](auto op) {
          FailureOr<Value> value = buildIfEmpty(op);
          if (failed(value))
            value = build(op);
          if (failed(value))
            return failure();
          op->replaceAllUsesWith(ValueRange(*value));
          op->erase();
          return success();
        })
        .Default([](Operation *) { return success(); });
  }

private:
  /// A tensor without elements is a constant: StableHLO has no collectives of
  /// dims of size 0.
  FailureOr<Value> buildIfEmpty(Operation *op) {
    auto type = cast<RankedTensorType>(op->getResultTypes().front());
    if (!llvm::is_contained(type.getShape(), 0))
      return failure();
    auto empty = DenseElementsAttr::get(type, ArrayRef<Attribute>());
    return stablehlo::ConstantOp::create(builder, op->getLoc(), empty)
        .getResult();
  }
  FailureOr<Value> build(sdy::ConstantOp op) {
    return stablehlo::ConstantOp::create(builder, op.getLoc(), op.getValue())
        .getResult();
  }
  FailureOr<Value> build(spmd::DeviceIndexOp op) {
    MeshAxes at = read(op);
    return buildDeviceIndex(builder, op.getLoc(), at.mesh, at.axes);
  }
  FailureOr<Value> build(spmd::AllSliceOp op);
  FailureOr<Value> build(spmd::AllGatherOp op);
  FailureOr<Value> build(spmd::AllToAllOp op);
  FailureOr<Value> build(spmd::AllReduceOp op);
  FailureOr<Value> build(spmd::ReduceScatterOp op);
  FailureOr<Value> build(spmd::CollectivePermuteOp op);
  FailureOr<Value> build(spmd::FetchWindowOp op);
  FailureOr<Value> build(spmd::PackOp op);
  void emitUnpack(spmd::UnpackOp op);

  struct MeshAxes {
    Mesh mesh;
    AxisList axes;
  };
  /// The axes of an spmd op, on its mesh.
  template <typename SpmdOp> sdy::MeshAttr meshOf(SpmdOp op) {
    return symbols.lookupNearestSymbolFrom<sdy::MeshOp>(op, op.getMeshAttr())
        .getMesh();
  }
  template <typename SpmdOp> MeshAxes read(SpmdOp op) {
    sdy::MeshAttr mesh = meshOf(op);
    return {toMesh(mesh), toAxisList(op.getAxes().getValue(), mesh)};
  }
  template <typename SpmdOp> DenseIntElementsAttr groups(SpmdOp op) {
    MeshAxes at = read(op);
    return buildReplicaGroups(builder, at.mesh, at.axes);
  }
  LogicalResult checkCombiner(Operation *op, Type element, ReductionKind kind) {
    if (canCombine(element, kind))
      return success();
    return op->emitError() << "the target can't combine " << element << " by "
                           << toString(kind).str()
                           << "; gather the operand and reduce it whole";
  }

  /// A collective that combines `operand` by the kind of `op`: `create` makes
  /// it of an operand, without its region.
  template <typename SpmdOp>
  FailureOr<Value> buildCombining(SpmdOp op, Value operand,
                                  function_ref<Operation *(Value)> create) {
    Type element = op.getType().getElementType(), combined = element;
    if (failed(checkCombiner(op, element, op.getKind())))
      return failure();
    bool asBits = needsOrderedBits(element, op.getKind());
    if (asBits) {
      operand = toOrderedBits(builder, operand, op.getKind());
      combined = getElementTypeOrSelf(operand.getType());
    }
    Operation *collective = create(operand);
    buildCombiner(collective->getRegion(0), combined, op.getKind(),
                  op.getLoc());
    Value result = collective->getResult(0);
    return asBits ? fromOrderedBits(builder, result, element) : result;
  }

  OpBuilder builder;
  SymbolTableCollection symbols;
  stablehlo::ChannelHandleAttr channel;
};

FailureOr<Value> Emitter::build(spmd::AllSliceOp op) {
  MeshAxes at = read(op);
  RankedTensorType type = op.getType();
  SmallVector<Value> starts(type.getRank());
  for (auto [dim, start] : llvm::enumerate(starts))
    start = dim == op.getDim()
                ? buildDeviceIndex(builder, op.getLoc(), at.mesh, at.axes,
                                   type.getDimSize(dim))
                : buildDeviceIndex(builder, op.getLoc(), at.mesh, {});
  Value piece = stablehlo::DynamicSliceOp::create(
      builder, op.getLoc(), guardOperand(builder, op.getTensor()), starts,
      type.getShape());
  return guardPiece(builder, piece, op.getResult().getUsers());
}

FailureOr<Value> Emitter::build(spmd::AllGatherOp op) {
  return stablehlo::AllGatherOp::create(
             builder, op.getLoc(), op->getResultTypes(), op->getOperands(),
             op.getDim(), groups(op), channel, /*use_global_device_ids=*/true)
      ->getResult(0);
}

FailureOr<Value> Emitter::build(spmd::AllToAllOp op) {
  return stablehlo::AllToAllOp::create(
             builder, op.getLoc(), op->getResultTypes(), op->getOperands(),
             op.getSplitDim(), op.getConcatDim(), read(op).axes.numShards(),
             groups(op), channel)
      ->getResult(0);
}

FailureOr<Value> Emitter::build(spmd::AllReduceOp op) {
  return buildCombining(op, op.getTensor(), [&](Value operand) -> Operation * {
    return stablehlo::AllReduceOp::create(
        builder, op.getLoc(), TypeRange(operand.getType()), operand, groups(op),
        channel, /*use_global_device_ids=*/true);
  });
}

FailureOr<Value> Emitter::build(spmd::ReduceScatterOp op) {
  return buildCombining(op, op.getTensor(), [&](Value operand) -> Operation * {
    auto element = cast<RankedTensorType>(operand.getType()).getElementType();
    return stablehlo::ReduceScatterOp::create(
        builder, op.getLoc(), op.getType().clone(element), operand, op.getDim(),
        groups(op), channel, /*use_global_device_ids=*/true);
  });
}

FailureOr<Value> Emitter::build(spmd::CollectivePermuteOp op) {
  sdy::MeshAttr mesh = meshOf(op);
  auto read = [&](sdy::ListOfAxisRefListsAttr axesPerDim) {
    return llvm::map_to_vector<4>(axesPerDim.getValue(),
                                  [&](sdy::AxisRefListAttr list) {
                                    return toAxisList(list.getValue(), mesh);
                                  });
  };
  DenseIntElementsAttr pairs = buildSourceTargetPairs(
      builder, toMesh(mesh), read(op.getSource()), read(op.getTarget()));
  return stablehlo::CollectivePermuteOp::create(
             builder, op.getLoc(), op.getType(), op.getTensor(), pairs, channel)
      .getResult();
}

FailureOr<Value> Emitter::build(spmd::FetchWindowOp op) {
  WindowProblem problem = spmd::getWindowProblem(
      op, op.getMeshAttr() ? meshOf(op) : sdy::MeshAttr());
  Value window =
      emitWindow(builder, op.getLoc(), guardOperand(builder, op.getTensor()),
                 op.getDim(), problem, op.getFill(), channel);
  return guardPiece(builder, window, op.getResult().getUsers());
}

FailureOr<Value> Emitter::build(spmd::PackOp op) {
  SmallVector<Value> flat;
  for (Value tensor : op.getTensors()) {
    auto type = cast<RankedTensorType>(tensor.getType());
    flat.push_back(stablehlo::ReshapeOp::create(
        builder, op.getLoc(), type.clone({type.getNumElements()}), tensor));
  }
  return stablehlo::ConcatenateOp::create(builder, op.getLoc(), flat,
                                          /*dimension=*/0)
      .getResult();
}

void Emitter::emitUnpack(spmd::UnpackOp op) {
  int64_t start = 0;
  for (Value result : op.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    int64_t limit = start + type.getNumElements();
    Value flat = stablehlo::SliceOp::create(
        builder, op.getLoc(), op.getTensor(), ArrayRef<int64_t>{start},
        ArrayRef<int64_t>{limit}, ArrayRef<int64_t>{1});
    result.replaceAllUsesWith(
        stablehlo::ReshapeOp::create(builder, op.getLoc(), type, flat));
    start = limit;
  }
  op->erase();
}

LogicalResult checkNothingLeft(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (!isa_and_present<sdy::SdyDialect, spmd::SpmdDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitError("has no StableHLO form; run sdy-partition-to-local first");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void setModuleAttributes(ModuleOp module, int64_t numDevices) {
  Builder builder(module.getContext());
  module->setAttr("mhlo.num_partitions", builder.getI32IntegerAttr(numDevices));
  module->setAttr("mhlo.num_replicas", builder.getI32IntegerAttr(1));
}

struct EmitStablehlo : impl::EmitStablehloPassBase<EmitStablehlo> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    sdy::MeshOp mesh = sdy::getProgramMesh(module);
    int64_t numDevices = mesh ? mesh.getMesh().getNumDevices() : 1;
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) { ops.push_back(op); });
    Emitter emitter(&getContext());
    for (Operation *op : ops)
      if (failed(emitter.emit(op)))
        return signalPassFailure();
    auto meshes = module.getOps<sdy::MeshOp>();
    for (sdy::MeshOp unused : llvm::make_early_inc_range(meshes))
      unused.erase();
    if (failed(checkNothingLeft(module)))
      return signalPassFailure();
    setModuleAttributes(module, numDevices);
  }
};

} // namespace

} // namespace shardonnay
