//===- UserPriorityPropagate.cpp ------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Read the module into a graph.
// 2. In the round of each priority, climb the ladder of op priorities.
// 3. Write the shardings that changed.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/ModuleGraph.h"
#include "shardonnay/transforms/propagate/Passes.h"

namespace shardonnay {

#define GEN_PASS_DEF_USERPRIORITYPROPAGATEPASS
#include "shardonnay/transforms/propagate/Passes.h.inc"

namespace {
struct UserPriorityPropagatePass
    : impl::UserPriorityPropagatePassBase<UserPriorityPropagatePass> {
  using UserPriorityPropagatePassBase::UserPriorityPropagatePassBase;

protected:
  void runOnOperation() override {
    ModuleGraph module = ModuleGraph::read(getOperation());
    propagateByUserPriority(module.graph, strategy, runOpPriority);
    module.write();
    if (keepShardingRules)
      writeRuleAttributes(getOperation());
  }
};
} // namespace

} // namespace shardonnay
