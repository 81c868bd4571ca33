//===- ExportLocalShard.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Each op of spmd becomes one of `shard`, or ops of tensor, arith and scf.
// 2. The attributes of dialects of ours go, and meshes become grids.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/frontend/ShardGrids.h"
#include "shardonnay/mpi/Entry.h"
#include "shardonnay/mpi/OnDeviceBranch.h"
#include "shardonnay/mpi/PackedTensors.h"
#include "shardonnay/mpi/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_EXPORTLOCALSHARDPASS
#include "shardonnay/mpi/Passes.h.inc"

namespace {

class LocalExporter {
public:
  LocalExporter(MLIRContext *context, const ShardGrids &grids)
      : grids(grids), builder(context) {}

  LogicalResult exportOp(Operation *op);

private:
  Value build(sdy::ConstantOp op) {
    return arith::ConstantOp::create(builder, op.getLoc(),
                                     cast<TypedAttr>(op.getValue()));
  }
  Value build(spmd::AllGatherOp op) {
    return shard::AllGatherOp::create(builder, op.getLoc(), op.getType(),
                                      op.getMeshAttr(), axes(op),
                                      op.getTensor(), index(op.getDim()));
  }
  Value build(spmd::AllSliceOp op) {
    return shard::AllSliceOp::create(builder, op.getLoc(), op.getType(),
                                     op.getMeshAttr(), axes(op), op.getTensor(),
                                     index(op.getDim()));
  }
  Value build(spmd::AllToAllOp op) {
    return shard::AllToAllOp::create(
        builder, op.getLoc(), op.getType(), op.getMeshAttr(), axes(op),
        op.getTensor(), index(op.getSplitDim()), index(op.getConcatDim()));
  }
  Value build(spmd::AllReduceOp op) {
    return shard::AllReduceOp::create(builder, op.getLoc(), op.getType(),
                                      op.getMeshAttr(), axes(op),
                                      op.getTensor(), kind(op.getKind()));
  }
  Value build(spmd::ReduceScatterOp op) {
    return shard::ReduceScatterOp::create(
        builder, op.getLoc(), op.getType(), op.getMeshAttr(), axes(op),
        op.getTensor(), kind(op.getKind()), index(op.getDim()));
  }
  Value build(spmd::PackOp op) { return buildPack(builder, op); }
  Value build(spmd::BarrierOp op) { return op.getTensor(); }

  template <typename OpT> shard::GridAxesAttr axes(OpT op) {
    return shard::GridAxesAttr::get(
        builder.getContext(),
        grids.axesOf(op.getMesh(), op.getAxes().getValue()));
  }
  shard::ReductionKindAttr kind(ReductionKind kind) {
    auto of = [](ReductionKind kind) {
      switch (kind) {
      case ReductionKind::Sum:
        return shard::ReductionKind::Sum;
      case ReductionKind::Max:
        return shard::ReductionKind::Max;
      case ReductionKind::Min:
        return shard::ReductionKind::Min;
      }
      llvm_unreachable("a kind of reduction without a form");
    };
    return shard::ReductionKindAttr::get(builder.getContext(), of(kind));
  }
  IntegerAttr index(int64_t value) { return builder.getIndexAttr(value); }
  Value indexAlong(Location loc, FlatSymbolRefAttr mesh,
                   ArrayRef<int16_t> gridAxes);
  void exportIndex(spmd::DeviceIndexOp op);

  const ShardGrids &grids;
  OpBuilder builder;
};

/// Row-major along the axes, an `index`.
Value LocalExporter::indexAlong(Location loc, FlatSymbolRefAttr mesh,
                                ArrayRef<int16_t> gridAxes) {
  if (gridAxes.empty())
    return arith::ConstantIndexOp::create(builder, loc, 0);
  auto all =
      llvm::to_vector(llvm::seq<int16_t>(0, grids.numAxes(mesh.getValue())));
  if (gridAxes == ArrayRef(all) && all.size() > 1)
    return shard::ProcessLinearIndexOp::create(builder, loc,
                                               builder.getIndexType(), mesh);
  // An op for each axis, as sdy-import-shard reads them.
  Value result;
  for (int16_t axis : gridAxes) {
    Value along = shard::ProcessMultiIndexOp::create(
                      builder, loc, builder.getIndexType(), mesh,
                      shard::GridAxesAttr::get(builder.getContext(), axis))
                      ->getResult(0);
    if (!result) {
      result = along;
      continue;
    }
    Value size = arith::ConstantIndexOp::create(
        builder, loc, grids.numShards(mesh.getValue(), axis));
    Value major = arith::MulIOp::create(builder, loc, result, size);
    result = arith::AddIOp::create(builder, loc, major, along);
  }
  return result;
}

/// What is taken out of the tensor to be an `index` again is the index itself.
void LocalExporter::exportIndex(spmd::DeviceIndexOp op) {
  Location loc = op.getLoc();
  Value along = indexAlong(loc, op.getMeshAttr(),
                           grids.axesOf(op.getMesh(), op.getAxes().getValue()));
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    auto extract = dyn_cast<tensor::ExtractOp>(user);
    if (!extract)
      continue;
    for (Operation *reader : llvm::make_early_inc_range(extract->getUsers()))
      if (isa<arith::IndexCastOp>(reader)) {
        reader->getResult(0).replaceAllUsesWith(along);
        reader->erase();
      }
    if (extract->use_empty())
      extract->erase();
  }
  if (!op->use_empty()) {
    Value number = arith::IndexCastOp::create(
        builder, loc, op.getType().getElementType(), along);
    op->replaceAllUsesWith(
        tensor::FromElementsOp::create(builder, loc, op.getType(), number));
  }
  op->erase();
}

LogicalResult LocalExporter::exportOp(Operation *op) {
  builder.setInsertionPoint(op);
  auto replace = [&](ValueRange values) {
    op->replaceAllUsesWith(values);
    op->erase();
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](spmd::DeviceIndexOp op) {
        exportIndex(op);
        return success();
      })
      .Case(
          [&](spmd::UnpackOp op) { return replace(buildUnpack(builder, op)); })
      .Case([&](spmd::OnDeviceOp op) {
        auto all =
            llvm::to_vector(llvm::seq<int16_t>(0, grids.numAxes(op.getMesh())));
        branchOnDevice(builder, op,
                       indexAlong(op.getLoc(), op.getMeshAttr(), all));
        return success();
      })
      .Case<sdy::ConstantOp, spmd::AllGatherOp, spmd::AllSliceOp,
            spmd::AllToAllOp, spmd::AllReduceOp, spmd::ReduceScatterOp,
            spmd::PackOp, spmd::BarrierOp>(
          [&](auto op) { return replace(build(op)); })
      .Case<spmd::CollectivePermuteOp, spmd::FetchWindowOp>([](auto op) {
        return op.emitError() << "'" << op->getName()
                              << "' has no form in MLIR's 'shard' dialect; run "
                                 "sdy-expand-collectives=keep-named first";
      })
      .Default([](Operation *op) {
        return op->emitError()
               << "'" << op->getName()
               << "' has no form in a program of local shards; run "
                  "sdy-partition-to-local first";
      });
}

struct ExportLocalShardPass
    : impl::ExportLocalShardPassBase<ExportLocalShardPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(sdy::verifyMeshSizes(module)))
      return signalPassFailure();
    SmallVector<Operation *> ops = findToEmit(module);
    dropForeignAttributes(module);
    ShardGrids grids;
    if (failed(grids.read(module)))
      return signalPassFailure();
    LocalExporter exporter(&getContext(), grids);
    for (Operation *op : ops)
      if (failed(exporter.exportOp(op)))
        return signalPassFailure();
    grids.replaceMeshes(module);
  }
};

} // namespace

} // namespace shardonnay
