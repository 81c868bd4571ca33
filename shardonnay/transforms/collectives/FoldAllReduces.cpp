//===- FoldAllReduces.cpp -------------------------------------------------===//
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

#define GEN_PASS_DEF_FOLDALLREDUCESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

static bool reduces(Operation *op) {
  return isa<sdy::AllReduceOp, sdy::ReduceScatterOp>(op);
}

bool foldAllReduces(const CollectiveSites &sites, CollectivePlanner &planner) {
  return replanPairs(sites, planner, [](Operation *inner, Operation *outer) {
    return reduces(inner) || reduces(outer);
  });
}

namespace {
struct FoldAllReducesPass
    : OptimizationPass<impl::FoldAllReducesPassBase<FoldAllReducesPass>,
                       foldAllReduces> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
