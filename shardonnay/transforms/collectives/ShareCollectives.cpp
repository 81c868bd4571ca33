//===- ShareCollectives.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SHARECOLLECTIVESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

namespace {
/// What comes, by collectives only, from one value.
struct Family {
  /// In program order of their blocks' walk.
  SmallVector<Operation *> members;
};
} // namespace

/// Families with many members are compared in part.
static constexpr size_t kMaxCompared = 16;

/// `value` is there where `user` stands.
static bool isAvailable(Operation *op, Operation *user) {
  Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
  return ancestor && op->isBeforeInBlock(ancestor);
}

/// `op` comes from `from` by collectives that nothing else needs.
static bool comesFrom(Operation *op, Operation *from) {
  while (op && op != from)
    op = getPlannedCollective(op->getOperand(0));
  return op == from;
}

/// Takes what `earlier` made where it is cheaper to go on from that.
static bool share(Operation *earlier, Operation *later,
                  CollectivePlanner &planner) {
  if (comesFrom(later, earlier) || !isAvailable(earlier, later))
    return false;
  sdy::NamedMesh mesh = getNamedMesh(later);
  Value result = later->getResult(0), source = earlier->getResult(0);
  if (getNamedMesh(earlier).mesh != mesh.mesh)
    return false;
  double before = planner.price(later) +
                  followChain(later->getOperand(0), later, planner).price;
  const ReshardPlan *plan =
      planner.plan(cast<RankedTensorType>(result.getType()),
                   mesh.readClosed(source), mesh.readClosed(result), mesh.mesh);
  if (!plan || plan->price > before ||
      (plan->price == before && !plan->steps.empty()))
    return false;
  Value input = later->getOperand(0);
  OpBuilder builder(later);
  result.replaceAllUsesWith(buildPlan(builder, later->getLoc(), source, *plan,
                                      mesh, getCause(later)));
  later->erase();
  eraseDeadChain(input);
  return true;
}

/// One of two in `members` may be another one's input, and erased with it.
static bool shareOne(ArrayRef<Operation *> members,
                     CollectivePlanner &planner) {
  for (size_t later = 1; later < members.size(); ++later)
    for (size_t earlier = 0; earlier < std::min(later, kMaxCompared); ++earlier)
      if (share(members[earlier], members[later], planner))
        return true;
  return false;
}

static llvm::MapVector<Value, Family>
findFamilies(const CollectiveSites &sites) {
  llvm::MapVector<Value, Family> families;
  for (Operation *op : sites.collectives) {
    Value root = op->getOperand(0);
    while (Operation *inner = getPlannedCollective(root))
      root = inner->getOperand(0);
    families[root].members.push_back(op);
  }
  return families;
}

bool shareCollectives(const CollectiveSites &sites,
                      CollectivePlanner &planner) {
  bool changed = false, again = true;
  // A pair at a time of each family, then looks again.
  for (unsigned round = 0; again && round < kMaxCompared; ++round) {
    auto families = changed ? findFamilies({sites.func, ProgramOps(sites.func)})
                            : findFamilies(sites);
    again = false;
    for (auto &[root, family] : families)
      if (family.members.size() > 1)
        again |= shareOne(family.members, planner);
    changed |= again;
  }
  return changed;
}

namespace {
struct ShareCollectivesPass
    : OptimizationPass<impl::ShareCollectivesPassBase<ShareCollectivesPass>,
                       shareCollectives> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
