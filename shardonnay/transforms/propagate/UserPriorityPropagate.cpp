//===- UserPriorityPropagate.cpp ------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Read the module into a graph.
// 2. In the round of each priority, go through the levels of op priority, or
//    sweep once backward and once forward.
// 3. Write the shardings that changed.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/Passes.h"
#include "shardonnay/transforms/propagate/PropagationRun.h"

namespace shardonnay {

#define GEN_PASS_DEF_USERPRIORITYPROPAGATEPASS
#include "shardonnay/transforms/propagate/Passes.h.inc"

namespace {
struct UserPriorityPropagatePass
    : PropagationPass<
          impl::UserPriorityPropagatePassBase<UserPriorityPropagatePass>> {
  using PropagationPass::PropagationPass;

  bool readsPriorities() const override { return true; }
  void propagate(ModuleGraph &module, PropagationSink *sink) override {
    if (backwardForward)
      propagateBackwardForward(module.graph, sink);
    else
      propagateByUserPriority(module.graph, strategy, runOpPriority, sink);
  }
};
} // namespace

} // namespace shardonnay
