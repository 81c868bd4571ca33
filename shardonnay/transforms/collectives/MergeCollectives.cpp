//===- MergeCollectives.cpp -----------------------------------------------===//
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

#define GEN_PASS_DEF_MERGECOLLECTIVESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

/// A reduction in a pair is FoldAllReduces' business, a gather that is sliced
/// CancelGathersAndSlices'.
bool mergeCollectives(const CollectiveSites &sites,
                      CollectivePlanner &planner) {
  return replanPairs(sites, planner, [](Operation *inner, Operation *outer) {
    for (Operation *op : {inner, outer})
      if (isa<sdy::AllReduceOp, sdy::ReduceScatterOp>(op))
        return false;
    return !isa<sdy::AllGatherOp>(inner) || !isa<sdy::AllSliceOp>(outer);
  });
}

namespace {
struct MergeCollectivesPass
    : OptimizationPass<impl::MergeCollectivesPassBase<MergeCollectivesPass>,
                       mergeCollectives> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
