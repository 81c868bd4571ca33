//===- OptimizeCollectives.cpp --------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_OPTIMIZECOLLECTIVESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

/// Each opens ways for those before it: what is hoisted meets what is there,
/// what moves past an op meets the next collective.
static constexpr bool (*kOptimizations[])(const CollectiveSites &,
                                          CollectivePlanner &) = {
    collectOnDevices, broadcastOwnerSlices,   hoistCollectives,
    shareCollectives, cancelGathersAndSlices, foldAllReduces,
    mergeCollectives, reassociateReductions,  accumulateInLoops,
    moveGathers,      moveSlicesUp,           mergeReturnedReductions,
};

namespace {
struct OptimizeCollectivesPass
    : PricedPass<impl::OptimizeCollectivesPassBase<OptimizeCollectivesPass>> {
  using PricedPass::PricedPass;

  void runOnOperation() override {
    CollectivePlanner planner(
        getAnalysis<SharedPlans>().get(deviceModel, model));
    auto &ops = getAnalysis<ProgramOps>();
    CollectiveSites sites(getOperation(), ops);
    bool changed = true;
    for (unsigned round = 0; changed && round < maxRounds; ++round) {
      changed = false;
      for (auto optimize : kOptimizations)
        if (optimize(sites, planner)) {
          changed = true;
          ops = ProgramOps(getOperation());
          sites = CollectiveSites(getOperation(), ops);
        }
    }
    for (Operation *loop : sites.loops)
      loop->removeAttr(sdy::kMemoryPriceAttr);
    if (!splitAllReduces(sites, planner))
      markAnalysesPreserved<ProgramOps>();
  }
};
} // namespace

} // namespace shardonnay
