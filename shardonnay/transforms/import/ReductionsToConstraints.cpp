//===- ReductionsToConstraints.cpp - reductions of whole values -----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. For each all_reduce and reduce_scatter of the program, compare the axes
//    that it reduces over with those along which its operand is said to be
//    partial.
// 2. Where the operand is not partial along all of them, a sharding constraint
//    takes its place.
//
// Other partitioners leave what makes a partial value without a word. Here it
// is whole where nothing says otherwise, and to add it up once more would
// multiply it.
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

#define GEN_PASS_DEF_REDUCTIONSTOCONSTRAINTSPASS
#include "shardonnay/transforms/import/Passes.h.inc"

static AxisList reducedAxes(AllReduceOp op, MeshAttr mesh) {
  return toAxisList(op.getReductionAxes().getValue(), mesh);
}

static AxisList reducedAxes(ReduceScatterOp op, MeshAttr mesh) {
  AxisList axes;
  for (AxisRefListAttr list : op.getReduceScatterAxes().getValue())
    axes.append(toAxisList(list.getValue(), mesh));
  return axes;
}

/// True if `op` is gone.
template <typename OpT> static bool restate(OpT op) {
  MeshAttr mesh = getMesh(op, op.getOutSharding());
  TensorShardingAttr given = getSharding(op.getTensor());
  AxisList parts =
      given ? toAxisList(given.getUnreducedAxes(), getMesh(op, given))
            : AxisList();
  if (reducedAxes(op, mesh).subtract(parts).empty())
    return false;
  OpBuilder builder(op);
  auto constraint = ShardingConstraintOp::create(
      builder, op.getLoc(), op.getTensor(), op.getOutSharding());
  op.replaceAllUsesWith(constraint.getResult());
  op.erase();
  return true;
}

namespace {
struct ReductionsToConstraintsPass
    : impl::ReductionsToConstraintsPassBase<ReductionsToConstraintsPass> {
  void runOnOperation() override {
    bool changed = false;
    if (getAnalysis<OpKinds>().mayHave<AllReduceOp, ReduceScatterOp>())
      getOperation().walk([&](Operation *op) {
        if (auto reduce = dyn_cast<AllReduceOp>(op))
          changed |= restate(reduce);
        else if (auto scatter = dyn_cast<ReduceScatterOp>(op))
          changed |= restate(scatter);
      });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace shardonnay
