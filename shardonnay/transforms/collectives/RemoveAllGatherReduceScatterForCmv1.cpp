//===- RemoveAllGatherReduceScatterForCmv1.cpp ----------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_REMOVEALLGATHERREDUCESCATTERFORCMV1PASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

static bool isContraction(Operation *op) {
  auto rule = dyn_cast_or_null<ShardingRuleOpInterface>(op);
  return rule && rule.isContraction();
}

static void leaveGatherToUser(sdy::AllGatherOp op) {
  if (!op->hasOneUse() || !isContraction(*op->user_begin()))
    return;
  op.replaceAllUsesWith(op.getTensor());
  op.erase();
}

static void leaveScatterToInput(sdy::ReduceScatterOp op) {
  Value tensor = op.getTensor();
  if (!tensor.hasOneUse() || !isContraction(tensor.getDefiningOp()))
    return;
  // A partial sum that is stated would have to be stated no more.
  sdy::TensorShardingAttr present = sdy::getSharding(tensor);
  if (present && !present.getUnreducedAxes().empty())
    return;
  sdy::setSharding(tensor, op.getOutSharding());
  op.replaceAllUsesWith(tensor);
  op.erase();
}

namespace {
struct RemoveAllGatherReduceScatterForCmv1Pass
    : impl::RemoveAllGatherReduceScatterForCmv1PassBase<
          RemoveAllGatherReduceScatterForCmv1Pass> {
  void runOnOperation() override {
    getOperation().walk(leaveGatherToUser);
    getOperation().walk(leaveScatterToInput);
  }
};
} // namespace

} // namespace shardonnay
