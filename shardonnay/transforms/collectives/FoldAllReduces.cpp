//===- FoldAllReduces.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
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

static bool makesParts(Operation *op) {
  return isa_and_present<sdy::ReplicatedToUnreducedOp,
                         sdy::ShardedToUnreducedOp>(op);
}

/// What is reduced for `parts`, the last of the ops that make parts of the sum
/// again: parts in the same sharding. Null if there is no such value.
static Value findSameParts(Operation *parts) {
  Operation *reduction = parts;
  while (makesParts(reduction))
    reduction = reduction->getOperand(0).getDefiningOp();
  if (!reduction || !reduces(reduction))
    return {};
  sdy::TensorShardingAttr wanted = sdy::getSharding(parts->getResult(0));
  Value source = reduction->getOperand(0);
  return wanted && sdy::getSharding(source) == wanted ? source : Value();
}

/// A loop carries parts of a sum from what was reduced to start with.
static bool keepParts(const CollectiveSites &sites) {
  bool changed = false;
  for (Operation *op : sites.ops) {
    Value parts = makesParts(op) ? findSameParts(op) : Value();
    if (!parts)
      continue;
    op->getResult(0).replaceAllUsesWith(parts);
    while (makesParts(op) && op->use_empty()) {
      Operation *reduction = op->getOperand(0).getDefiningOp();
      op->erase();
      op = reduction;
    }
    eraseDeadChain(op->getResult(0));
    changed = true;
  }
  return changed;
}

bool foldAllReduces(const CollectiveSites &sites, CollectivePlanner &planner) {
  // Behind that the sites are others.
  if (keepParts(sites))
    return true;
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
