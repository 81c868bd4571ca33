//===- HoistCollectives.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Iterators.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/interfaces/CarriedValue.h"
#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Invariants.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_HOISTCOLLECTIVESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

namespace {
/// Copies what does not change in a loop before it.
class Hoister {
public:
  explicit Hoister(Operation *loop)
      : loop(loop), builder(loop), invariants(loop) {}

  const Invariants &getInvariants() const { return invariants; }
  bool isInvariant(Value value) { return invariants.contain(value); }
  /// An invariant value, from before the loop.
  Value get(Value value) {
    value = invariants.skipBarriers(value);
    if (invariants.isOutside(value))
      return value;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return getInvariantSource(argument, loop);
    if (Value copy = copies.lookup(value))
      return copy;
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands = llvm::map_to_vector(
        op->getOperands(), [&](Value operand) { return get(operand); });
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    return copies[value] =
               copy->getResult(cast<OpResult>(value).getResultNumber());
  }

private:
  Operation *loop;
  OpBuilder builder;
  Invariants invariants;
  llvm::DenseMap<Value, Value> copies;
};
} // namespace

/// True for an op whose regions take nothing in, and so are branches.
static bool isConditional(Operation *op) {
  return isa<ShardableDataFlowOpInterface>(op) &&
         llvm::all_of(op->getRegions(), [](Region &region) {
           return region.getNumArguments() == 0;
         });
}

/// A slice of what a collective makes before the loop for nothing else: there
/// the two meet.
static bool meetsCollective(Operation *op, const Invariants &invariants) {
  Value value = op->getOperand(0);
  return isa<sdy::AllSliceOp>(op) && invariants.isOutside(value) &&
         value.hasOneUse() && getPlannedCollective(value);
}

/// The collectives that cost something, or slice, in `op` and in its branches;
/// an inner loop has been looked at by itself.
static void findCollectives(Operation *op, CollectivePlanner &planner,
                            SmallVectorImpl<Operation *> &found) {
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps()) {
      if (inner.getNumResults() == 1 &&
          getPlannedCollective(inner.getResult(0)) &&
          (isa<sdy::AllSliceOp>(inner) || planner.price(&inner) > 0))
        found.push_back(&inner);
      if (isConditional(&inner))
        findCollectives(&inner, planner, found);
    }
}

/// What it costs that a device holds the result of `collective` as long as
/// `loop` runs.
static double priceHeld(Operation *loop, Operation *collective) {
  Value value = collective->getResult(0);
  return sdy::getMemoryPrice(loop) *
         sdy::getShardBytes(cast<RankedTensorType>(value.getType()),
                            getNamedMesh(collective).readClosed(value));
}

static bool hoistFrom(Operation *loop, CollectivePlanner &planner) {
  SmallVector<Operation *> found;
  findCollectives(loop, planner, found);
  Hoister hoister(loop);
  bool changed = false;
  for (Operation *op : found) {
    Value value = op->getResult(0);
    if (!hoister.isInvariant(value) ||
        (!meetsCollective(op, hoister.getInvariants()) &&
         planner.price(op) * (sdy::countTrips(loop) - 1) <=
             priceHeld(loop, op)))
      continue;
    value.replaceAllUsesWith(hoister.get(value));
    changed = true;
  }
  // The copies' originals, and what only these used.
  if (changed)
    loop->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      if (op != loop && isOpTriviallyDead(op))
        op->erase();
    });
  return changed;
}

/// Nothing reads what the loop carries for `owner`, in the loop or behind it.
static bool isUnread(ShardableDataFlowOpInterface loop, Value owner) {
  SmallVector<OpOperand *> sources = loop.getEdgeSources(owner);
  return llvm::all_of(loop.getEdgeTargets(owner), [&](Value target) {
    return llvm::all_of(target.getUses(), [&](OpOperand &use) {
      return llvm::is_contained(sources, &use);
    });
  });
}

/// What was carried unchanged for nothing but what is hoisted goes into the
/// loop as it was before the collectives that brought it there.
static bool releaseUnread(Operation *loop) {
  auto dataFlow = cast<ShardableDataFlowOpInterface>(loop);
  bool changed = false;
  for (Value owner : dataFlow.getEdgeOwners()) {
    Value source = getInvariantSource(owner, loop), given = source;
    if (!source || !isUnread(dataFlow, owner))
      continue;
    while (Operation *collective = getPlannedCollective(given))
      given = collective->getOperand(0);
    if (given == source)
      continue;
    sdy::NamedMesh mesh = getNamedMesh(source.getDefiningOp());
    TensorSharding sharding = mesh.readClosed(given);
    if (!sharding.unreduced.empty())
      continue;
    for (OpOperand *operand : dataFlow.getEdgeSources(owner))
      if (operand->get() == source)
        operand->set(given);
    sdy::setSharding(owner, mesh.write(sharding));
    eraseDeadChain(source);
    changed = true;
  }
  return changed;
}

bool hoistCollectives(const CollectiveSites &sites,
                      CollectivePlanner &planner) {
  bool changed = false;
  // Inner loops first: what leaves one may leave the next.
  for (Operation *loop : llvm::reverse(sites.loops)) {
    if (sdy::countTrips(loop) > 1)
      changed |= hoistFrom(loop, planner);
    changed |= releaseUnread(loop);
  }
  return changed;
}

namespace {
struct HoistCollectivesPass
    : OptimizationPass<impl::HoistCollectivesPassBase<HoistCollectivesPass>,
                       hoistCollectives> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
