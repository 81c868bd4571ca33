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

#include "shardonnay/transforms/propagate/Passes.h"
#include "shardonnay/transforms/propagate/PropagationRun.h"

namespace shardonnay {

#define GEN_PASS_DEF_OPPRIORITYPROPAGATEPASS
#include "shardonnay/transforms/propagate/Passes.h.inc"

namespace {
struct OpPriorityPropagatePass
    : impl::OpPriorityPropagatePassBase<OpPriorityPropagatePass> {
  using OpPriorityPropagatePassBase::OpPriorityPropagatePassBase;

protected:
  void runOnOperation() override {
    PropagationRunOptions options;
    options.keepShardingRules = keepShardingRules;
    options.origins = debugShardingOrigins;
    options.edges = debugPropagationEdgeSharding;
    options.remarksFile = remarksFile;
    options.conservative = conservativePropagation;
    options.dumpDirectory = moduleDumpDirectory;
    options.passName = getArgument();
    auto propagate = [&](PropagationGraph &graph, PropagationSink *sink) {
      if (runOpPriority)
        propagateByOpPriority(graph, strategy, sink);
      else
        shardonnay::propagate(graph, strategy, sink);
    };
    if (failed(runPropagation(getOperation(), options, propagate)))
      signalPassFailure();
  }
};
} // namespace

} // namespace shardonnay
