//===- CollectiveInterface.cpp - what each collective does ----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/LocalShard.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"

using namespace mlir;
using namespace mlir::sdy;
using shardonnay::AxisList;
using shardonnay::LocalShard;

#include "shardonnay/dialect/sdy/CollectiveInterface.cpp.inc"

/// Calls `body(dim, axes)` for each dim that has axes.
static void
forEachDim(ListOfAxisRefListsAttr axesPerDim, MeshAttr mesh,
           llvm::function_ref<void(int64_t, const AxisList &)> body) {
  for (auto [dim, axes] : llvm::enumerate(axesPerDim.getValue()))
    if (!axes.getValue().empty())
      body(static_cast<int64_t>(dim), toAxisList(axes.getValue(), mesh));
}

void AllGatherOp::applyTo(LocalShard &shard, MeshAttr mesh) {
  forEachDim(getGatheringAxes(), mesh, [&](int64_t dim, const AxisList &axes) {
    shard.allGather(dim, axes);
  });
}

void AllSliceOp::applyTo(LocalShard &shard, MeshAttr mesh) {
  forEachDim(getSlicingAxes(), mesh, [&](int64_t dim, const AxisList &axes) {
    shard.allSlice(dim, axes);
  });
}

void AllToAllOp::applyTo(LocalShard &shard, MeshAttr mesh) {
  for (AllToAllParamAttr move : getParams().getValue())
    shard.allToAll(move.getSrcDim(), move.getTgtDim(),
                   toAxisList(move.getAxes(), mesh));
}

void CollectivePermuteOp::applyTo(LocalShard &shard, MeshAttr mesh) {
  MeshAttr targetMesh = getMesh(*this, getOutSharding());
  auto target = llvm::map_to_vector<4>(
      toSharding(getOutSharding(), targetMesh).dims,
      [](const shardonnay::DimSharding &dim) { return dim.axes; });
  if (targetMesh == mesh)
    shard.permute(target);
  else
    shard.permuteDevices(target);
}

void AllReduceOp::applyTo(LocalShard &shard, MeshAttr mesh) {
  shard.allReduce(toAxisList(getReductionAxes().getValue(), mesh), getKind());
}

void ReduceScatterOp::applyTo(LocalShard &shard, MeshAttr mesh) {
  forEachDim(getReduceScatterAxes(), mesh,
             [&](int64_t dim, const AxisList &axes) {
               shard.reduceScatter(dim, axes, getKind());
             });
}

void ShardedToUnreducedOp::applyTo(LocalShard &shard, MeshAttr mesh) {
  forEachDim(getAxes(), mesh, [&](int64_t dim, const AxisList &axes) {
    shard.shardedToUnreduced(dim, axes);
  });
}

void ReplicatedToUnreducedOp::applyTo(LocalShard &shard, MeshAttr mesh) {
  shard.replicatedToUnreduced(toAxisList(getAxes().getValue(), mesh));
}
