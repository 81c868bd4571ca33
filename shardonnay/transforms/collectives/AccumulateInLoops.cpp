//===- AccumulateInLoops.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Pieces.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_ACCUMULATEINLOOPSPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

/// `value` is a constant of zeros, or an op makes it of such that keeps zeros.
static bool isZero(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_if_present<sdy::ConstantOp>(op))
    return sdy::isZeroSplat(constant.getValue());
  if (isa_and_nonnull<sdy::AllSliceOp>(op))
    return isZero(op->getOperand(0), depth);
  auto rule = dyn_cast_if_present<ShardingRuleOpInterface>(op);
  return rule && depth < 4 && op->getNumOperands() == 1 &&
         rule.isLinear(ReductionKind::Sum, llvm::SmallBitVector(1, true)) &&
         isZero(op->getOperand(0), depth + 1);
}

namespace {
/// A value that a loop carries and to which every run adds one that it has
/// settled before.
struct Accumulator {
  Value owner;
  OpOperand *init = nullptr;
  Operation *add = nullptr;
  unsigned summand = 0;
  /// What is added, before it is settled.
  Value partial;
  double price = 0;
  NamedMesh mesh;
};
} // namespace

/// The loop's class of `owner`, if it is one.
static std::optional<Accumulator>
readAccumulator(ShardableDataFlowOpInterface loop, Value owner,
                CollectivePlanner &planner) {
  Accumulator found;
  found.owner = owner;
  OpOperand *next = nullptr;
  for (OpOperand *source : loop.getEdgeSources(owner))
    (source->getOwner() == loop ? found.init : next) = source;
  if (!found.init || !next || !isa<OpResult>(owner) ||
      loop.getEdgeSources(owner).size() != 2 || !isZero(found.init->get()))
    return std::nullopt;
  found.add = next->get().getDefiningOp();
  if (!found.add || found.add->getNumOperands() != 2 ||
      !next->get().hasOneUse() ||
      found.add->getBlock() != next->getOwner()->getBlock())
    return std::nullopt;
  // Nothing but the addition sees the carried value in the loop.
  Value carried;
  for (Value target : loop.getEdgeTargets(owner)) {
    if (target == owner || target.use_empty())
      continue;
    if (carried || !target.hasOneUse() || *target.user_begin() != found.add)
      return std::nullopt;
    carried = target;
  }
  if (!carried)
    return std::nullopt;
  found.summand = found.add->getOperand(0) == carried ? 1 : 0;
  ChainStart start =
      followChain(found.add->getOperand(found.summand), found.add, planner);
  if (!start.last)
    return std::nullopt;
  found.partial = start.source;
  found.price = start.price;
  found.mesh = getNamedMesh(start.last);
  auto rule = dyn_cast<ShardingRuleOpInterface>(found.add);
  TensorSharding sharding = readSharding(start.source, found.mesh.mesh);
  if (sharding.unreduced.empty() || sharding.kind != ReductionKind::Sum ||
      !rule || !rule.isElementwise() ||
      !rule.isLinear(ReductionKind::Sum, llvm::SmallBitVector(2, true)))
    return std::nullopt;
  return found;
}

/// Carries `found` unsettled, and settles it behind the loop.
static void accumulate(Operation *loop, const Accumulator &found,
                       const ReshardPlan &plan) {
  Value owner = found.owner;
  Value settled = found.add->getOperand(found.summand);
  Attribute cause = getCause(settled.getDefiningOp());
  sdy::TensorShardingAttr sharding =
      sdy::fromSharding(readSharding(found.partial, found.mesh.mesh),
                        found.mesh.meshOrRef, found.mesh.mesh);
  OpBuilder builder(loop);
  auto type = cast<RankedTensorType>(found.owner.getType());
  auto zeros = cast<DenseElementsAttr>(
      DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
  Value init =
      sdy::ConstantOp::create(builder, found.init->get().getLoc(), zeros);
  sdy::setSharding(init, sharding);
  found.init->set(init);
  found.add->setOperand(found.summand, found.partial);
  eraseDeadChain(settled);
  sdy::setSharding(found.add->getResult(0), sharding);
  sdy::setSharding(found.owner, sharding);
  builder.setInsertionPointAfter(loop);
  Value after =
      buildPlan(builder, loop->getLoc(), found.owner, plan, found.mesh, cause);
  Operation *first = after.getDefiningOp();
  while (first->getOperand(0) != found.owner)
    first = first->getOperand(0).getDefiningOp();
  owner.replaceAllUsesExcept(after, first);
}

bool accumulateInLoops(const CollectiveSites &sites,
                       CollectivePlanner &planner) {
  bool changed = false;
  for (Operation *op : sites.loops) {
    auto loop = dyn_cast<ShardableDataFlowOpInterface>(op);
    if (!loop)
      continue;
    for (Value owner : loop.getEdgeOwners()) {
      if (!isa<RankedTensorType>(owner.getType()) ||
          loop.getManualBoundary(owner))
        continue;
      std::optional<Accumulator> found = readAccumulator(loop, owner, planner);
      if (!found)
        continue;
      const ReshardPlan *plan =
          planner.plan(cast<RankedTensorType>(owner.getType()),
                       readSharding(found->partial, found->mesh.mesh),
                       readSharding(owner, found->mesh.mesh), found->mesh.mesh);
      if (!plan || plan->steps.empty() ||
          plan->price >= found->price * countTrips(loop))
        continue;
      accumulate(loop, *found, *plan);
      changed = true;
    }
  }
  return changed;
}

namespace {
struct AccumulateInLoopsPass
    : OptimizationPass<impl::AccumulateInLoopsPassBase<AccumulateInLoopsPass>,
                       accumulateInLoops> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
