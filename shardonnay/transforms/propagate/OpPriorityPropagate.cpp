//===- OpPriorityPropagate.cpp --------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Read the module into a graph.
// 2. Climb the ladder of op priorities, sweeping at each level.
// 3. Write the shardings that changed.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/ModuleGraph.h"
#include "shardonnay/transforms/propagate/Passes.h"

namespace shardonnay {

#define GEN_PASS_DEF_OPPRIORITYPROPAGATEPASS
#include "shardonnay/transforms/propagate/Passes.h.inc"

namespace {
struct OpPriorityPropagatePass
    : impl::OpPriorityPropagatePassBase<OpPriorityPropagatePass> {
  using OpPriorityPropagatePassBase::OpPriorityPropagatePassBase;

protected:
  void runOnOperation() override {
    ModuleGraph module = ModuleGraph::read(getOperation());
    if (runOpPriority)
      propagateByOpPriority(module.graph, strategy);
    else
      propagate(module.graph, strategy);
    module.write();
    if (keepShardingRules)
      writeRuleAttributes(getOperation());
  }
};
} // namespace

} // namespace shardonnay
