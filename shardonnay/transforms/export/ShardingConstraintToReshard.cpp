//===- ShardingConstraintToReshard.cpp ------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SHARDINGCONSTRAINTTORESHARDPASS
#include "shardonnay/transforms/export/Passes.h.inc"

/// Stands in a region that is a part of what an op computes, on scalars: there
/// is nothing to reshard.
static bool isPartOfAnOp(Operation *op) {
  for (Operation *parent = op->getParentOp(); !isa<func::FuncOp>(parent);
       parent = parent->getParentOp())
    if (!isa<ShardableDataFlowOpInterface>(parent))
      return true;
  return false;
}

namespace {
struct ShardingConstraintToReshardPass
    : impl::ShardingConstraintToReshardPassBase<
          ShardingConstraintToReshardPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<sdy::ShardingConstraintOp>())
      return markAllAnalysesPreserved();
    getOperation().walk([](sdy::ShardingConstraintOp op) {
      if (isPartOfAnOp(op)) {
        op.replaceAllUsesWith(op.getInput());
        op.erase();
        return;
      }
      OpBuilder builder(op);
      auto reshard = sdy::ReshardOp::create(builder, op.getLoc(), op.getInput(),
                                            op.getSharding());
      op.replaceAllUsesWith(reshard.getResult());
      op.erase();
    });
  }
};
} // namespace

} // namespace shardonnay
