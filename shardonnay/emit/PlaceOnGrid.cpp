//===- PlaceOnGrid.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/PlaceOnGrid.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/emit/CollectiveBuilder.h"
#include "shardonnay/emit/DeviceIndex.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

namespace {

DeviceRows readRows(DenseIntElementsAttr attr) {
  DeviceRows rows;
  int64_t width = attr.getType().getShape().back();
  for (auto [i, id] : llvm::enumerate(attr.getValues<int64_t>())) {
    if (static_cast<int64_t>(i) % width == 0)
      rows.emplace_back();
    rows.back().push_back(id);
  }
  return rows;
}

class Placer {
public:
  Placer(MLIRContext *context, const DeviceGrid &grid)
      : grid(grid), builder(context) {}

  LogicalResult place(Operation *op) {
    builder.setInsertionPoint(op);
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<stablehlo::AllReduceOp, stablehlo::AllGatherOp,
              stablehlo::ReduceScatterOp>([&](auto op) {
          return op.getUseGlobalDeviceIds() ? flatten(op) : success();
        })
        .Case<stablehlo::AllToAllOp, stablehlo::CollectiveBroadcastOp>(
            [&](auto op) { return nameIds(op, op.getReplicaGroupsAttrName()); })
        .Case([&](stablehlo::CollectivePermuteOp op) {
          return nameIds(op, op.getSourceTargetPairsAttrName());
        })
        .Case<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>([&](auto op) {
          replaceId(op);
          return success();
        })
        .Default(success());
  }

private:
  /// The rows of an attribute that lists devices; nothing, with an error, if it
  /// has other ones.
  std::optional<DeviceRows> rowsOf(Operation *op, StringAttr name) {
    auto attr = dyn_cast_if_present<DenseIntElementsAttr>(op->getAttr(name));
    auto isId = [](const APInt &id) { return !id.isNegative(); };
    if (attr && attr.getType().getRank() == 2 && llvm::all_of(attr, isId))
      return readRows(attr);
    op->emitError("expected groups of one size that list their devices, to "
                  "place them among replicas, got ")
        << op->getAttr(name);
    return std::nullopt;
  }

  template <typename OpT> LogicalResult flatten(OpT op) {
    StringAttr name = op.getReplicaGroupsAttrName();
    // Where the mesh has all devices, these are its flattened ids.
    if (grid.place() != DeviceGrid::Ids::Partitions)
      return success();
    std::optional<DeviceRows> rows = rowsOf(op, name);
    if (!rows)
      return failure();
    op->setAttr(name, toRowsAttr(builder, grid.flattened(*rows)));
    return success();
  }

  template <typename OpT> LogicalResult nameIds(OpT op, StringAttr name) {
    // Without a channel it speaks of replicas, of which there was one.
    if (grid.place() == DeviceGrid::Ids::Partitions || !op.getChannelHandle())
      return success();
    std::optional<DeviceRows> rows = rowsOf(op, name);
    if (!rows)
      return failure();
    auto found = grid.oneKind(*rows);
    if (!found)
      return op->emitError("'")
             << op->getName()
             << "' is between devices that differ in replica and partition, or "
                "not the same in all of them, which no op can state: "
                "exchange along one of them, or use one replica";
    op->setAttr(name, toRowsAttr(builder, found->rows));
    if (found->ids == DeviceGrid::Ids::Replicas)
      op.removeChannelHandleAttr();
    return success();
  }

  void replaceId(Operation *op) {
    if (grid.place() == DeviceGrid::Ids::Partitions)
      return;
    Location loc = op->getLoc();
    Type type = op->getResult(0).getType();
    Value id;
    if (isa<stablehlo::ReplicaIdOp>(op))
      id = stablehlo::ConstantOp::create(
          builder, loc, cast<ElementsAttr>(builder.getZeroAttr(type)));
    else
      id = stablehlo::ConvertOp::create(builder, loc, type,
                                        buildDeviceId(builder, loc, grid));
    op->replaceAllUsesWith(ValueRange(id));
    op->erase();
  }

  const DeviceGrid &grid;
  OpBuilder builder;
};

} // namespace

LogicalResult placeOnGrid(ModuleOp module, const DeviceGrid &grid) {
  if (grid.replicas() == 1)
    return success();
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  Placer placer(module.getContext(), grid);
  return success(llvm::all_of(
      ops, [&](Operation *op) { return succeeded(placer.place(op)); }));
}

} // namespace shardonnay
