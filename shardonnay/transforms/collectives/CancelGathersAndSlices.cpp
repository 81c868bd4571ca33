//===- CancelGathersAndSlices.cpp -----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_CANCELGATHERSANDSLICESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

bool cancelGathersAndSlices(const CollectiveSites &sites,
                            CollectivePlanner &planner) {
  return replanPairs(sites, planner, [](Operation *inner, Operation *outer) {
    return isa<sdy::AllGatherOp>(inner) && isa<sdy::AllSliceOp>(outer);
  });
}

namespace {
struct CancelGathersAndSlicesPass
    : OptimizationPass<
          impl::CancelGathersAndSlicesPassBase<CancelGathersAndSlicesPass>,
          cancelGathersAndSlices> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
