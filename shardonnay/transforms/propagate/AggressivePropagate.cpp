//===- AggressivePropagate.cpp --------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Read the module into a graph.
// 2. Sweep over it with the steps of the strategy.
// 3. Write the shardings that changed.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/Passes.h"
#include "shardonnay/transforms/propagate/PropagationRun.h"

namespace shardonnay {

#define GEN_PASS_DEF_AGGRESSIVEPROPAGATEPASS
#include "shardonnay/transforms/propagate/Passes.h.inc"

namespace {
struct AggressivePropagatePass
    : PropagationPass<
          impl::AggressivePropagatePassBase<AggressivePropagatePass>> {
  using PropagationPass::PropagationPass;

protected:
  void propagate(ModuleGraph &module, PropagationSink *sink) override {
    shardonnay::propagate(module.graph, strategy, sink);
  }
};
} // namespace

} // namespace shardonnay
