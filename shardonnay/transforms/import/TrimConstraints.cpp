//===- TrimConstraints.cpp - constraints under which devices would idle ---===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. For each sharding constraint and each dim of it, as long as the axes but
//    the last one shard the dim into single elements already, take the last one
//    out.
//
// Sharded so or not, a device has room for one element. Sharded, all but a few
// hold padding there, and whoever needs the element sends that too.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_TRIMCONSTRAINTSPASS
#include "shardonnay/transforms/import/Passes.h.inc"

/// The axes that divide a dim of `size` further than those before them.
static AxisList busyAxes(const AxisList &axes, int64_t size) {
  AxisList busy;
  for (AxisRef axis : axes)
    if (busy.numShards() < size)
      busy.append(axis);
  return busy;
}

/// False if there is nothing to take out.
static bool trim(ShardingConstraintOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type)
    return false;
  NamedMesh mesh = NamedMesh::of(op, op.getSharding());
  TensorSharding sharding = mesh.read(op.getSharding());
  for (auto [dim, size] : llvm::zip_equal(sharding.dims, type.getShape()))
    if (!ShapedType::isDynamic(size) && size > 0)
      dim.axes = busyAxes(dim.axes, size);
  if (sharding == mesh.read(op.getSharding()))
    return false;
  op.setShardingAttr(mesh.write(sharding));
  return true;
}

namespace {
struct TrimConstraintsPass
    : impl::TrimConstraintsPassBase<TrimConstraintsPass> {
  void runOnOperation() override {
    bool changed = false;
    if (getAnalysis<OpKinds>().mayHave<ShardingConstraintOp>())
      getOperation().walk(
          [&](ShardingConstraintOp op) { changed |= trim(op); });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace shardonnay
