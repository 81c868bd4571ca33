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
/// settled before; or which it settles after an inner loop has added to it.
struct Accumulator {
  Value owner;
  OpOperand *init = nullptr;
  OpOperand *next = nullptr;
  /// In the body, and the one op that uses it there.
  Value carried;
  Operation *user = nullptr;
  /// What is settled in the loop: a summand, or `next`.
  OpOperand *settled = nullptr;
  /// The same before it is settled, and what that costs.
  Value partial;
  double price = 0;
  NamedMesh mesh;
  TensorSharding sharding;
};
} // namespace

/// Fills in what the loop makes of its class of `owner`; false if nothing but
/// one op sees the carried value.
static bool readCarried(ShardableDataFlowOpInterface loop, Accumulator &found) {
  for (OpOperand *source : loop.getEdgeSources(found.owner))
    (source->getOwner() == loop ? found.init : found.next) = source;
  if (!found.init || !found.next || !isa<OpResult>(found.owner) ||
      loop.getEdgeSources(found.owner).size() != 2)
    return false;
  for (Value target : loop.getEdgeTargets(found.owner)) {
    if (target == found.owner || target.use_empty())
      continue;
    if (found.carried || !target.hasOneUse())
      return false;
    found.carried = target;
  }
  if (found.carried)
    found.user = *found.carried.user_begin();
  return found.user &&
         found.user->getBlock() == found.next->getOwner()->getBlock();
}

/// The carried value is an operand of `user`, an addition of one that is
/// settled for it (a maximum, where maximands are).
static bool isSum(const Accumulator &found) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(found.user);
  return rule && rule.isElementwise() &&
         rule.isLinear(found.sharding.kind, llvm::SmallBitVector(2, true));
}

/// `user` gives the carried value to an inner loop in parts.
static bool isGivenInParts(const Accumulator &found) {
  if (!isa<sdy::ReplicatedToUnreducedOp, sdy::ShardedToUnreducedOp>(found.user))
    return false;
  Value parts = found.user->getResult(0);
  return parts.hasOneUse() &&
         getEdgeOwner(*parts.use_begin()) == found.partial &&
         readSharding(parts, found.mesh.mesh) == found.sharding;
}

/// The loop's class of `owner`, if it is one.
static std::optional<Accumulator>
readAccumulator(ShardableDataFlowOpInterface loop, Value owner,
                CollectivePlanner &planner) {
  Accumulator found;
  found.owner = owner;
  if (!readCarried(loop, found))
    return std::nullopt;
  Operation *user = found.user;
  bool adds = user->getNumOperands() == 2 && user->getNumResults() == 1 &&
              found.next->get() == user->getResult(0) &&
              found.next->get().hasOneUse();
  found.settled =
      adds ? &user->getOpOperand(user->getOperand(0) == found.carried ? 1 : 0)
           : found.next;
  ChainStart start =
      followChain(found.settled->get(), found.settled->getOwner(), planner);
  if (!start.last)
    return std::nullopt;
  found.partial = start.source;
  found.price = start.price;
  found.mesh = getNamedMesh(start.last);
  found.sharding = readSharding(start.source, found.mesh.mesh);
  if (found.sharding.unreduced.empty() ||
      !(adds ? isSum(found) : isGivenInParts(found)))
    return std::nullopt;
  return found;
}

namespace {
/// How a loop's start becomes one in parts: moved first, where `plan` says,
/// then each device puts what it has in its place in the whole (`pieces`), then
/// one of those that have the same keeps it (`whole`).
struct PartialStart {
  const ReshardPlan *plan = nullptr;
  SmallVector<AxisList> pieces;
  AxisList whole;
  double price = 0;
};
} // namespace

/// Nothing if there is no way. A start from zeros need not be moved.
static std::optional<PartialStart> planStart(const Accumulator &found,
                                             CollectivePlanner &planner) {
  PartialStart start;
  if (found.sharding.kind == ReductionKind::Sum && isZero(found.init->get()))
    return start;
  TensorSharding present = readSharding(found.init->get(), found.mesh.mesh);
  if (!present.unreduced.empty())
    return std::nullopt;
  TensorSharding settled = found.sharding;
  settled.unreduced = AxisList();
  settled.kind = ReductionKind::Sum;
  const AxisList &parts = found.sharding.unreduced;
  start.whole = parts;
  auto fits = [&](auto dims) {
    auto [has, needs] = dims;
    return needs.axes.isPrefixOf(has.axes) &&
           llvm::all_of(has.axes.dropPrefix(needs.axes),
                        [&](AxisRef axis) { return parts.covers(axis); });
  };
  auto dims = llvm::zip_equal(present.dims, settled.dims);
  auto type = cast<RankedTensorType>(found.owner.getType());
  if (llvm::all_of(dims, fits)) {
    for (auto [has, needs] : dims) {
      start.pieces.push_back(has.axes.dropPrefix(needs.axes));
      start.whole = start.whole.subtract(start.pieces.back());
    }
  } else {
    start.plan = planner.plan(type, present, settled, found.mesh.mesh);
    if (!start.plan)
      return std::nullopt;
    start.price = start.plan->price;
  }
  start.price += planner.memoryPrice(2.0 * sdy::getPieceBytes(type, settled),
                                     found.mesh.mesh);
  return start;
}

/// Writes what `start` says, before the loop.
static Value makeStart(OpBuilder &builder, const Accumulator &found,
                       const PartialStart &start, Attribute cause) {
  const NamedMesh &mesh = found.mesh;
  Value value = found.init->get();
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  auto write = [&](const TensorSharding &sharding) {
    return sdy::fromSharding(sharding, mesh.meshOrRef, mesh.mesh);
  };
  if (!start.plan && start.whole.empty() && start.pieces.empty()) {
    auto zeros = cast<DenseElementsAttr>(DenseElementsAttr::get(
        type, builder.getZeroAttr(type.getElementType())));
    value = sdy::ConstantOp::create(builder, loc, zeros);
    sdy::setSharding(value, write(found.sharding));
    return value;
  }
  auto list = [&](const AxisList &axes) {
    return sdy::AxisRefListAttr::get(builder.getContext(),
                                     sdy::fromAxisList(axes, mesh.mesh));
  };
  if (start.plan)
    value = buildPlan(builder, loc, value, *start.plan, mesh, cause);
  if (!sdy::getSharding(value))
    sdy::setSharding(value, write(readSharding(value, mesh.mesh)));
  if (start.whole != found.sharding.unreduced) {
    TensorSharding spread = found.sharding;
    spread.unreduced = spread.unreduced.subtract(start.whole).sorted();
    value = sdy::ShardedToUnreducedOp::create(
        builder, loc, type, value,
        sdy::ListOfAxisRefListsAttr::get(
            builder.getContext(), llvm::map_to_vector(start.pieces, list)),
        write(spread));
  }
  if (!start.whole.empty())
    value = sdy::ReplicatedToUnreducedOp::create(
        builder, loc, type, value, list(start.whole), write(found.sharding));
  return value;
}

/// Carries `found` unsettled, and settles it behind the loop.
static void accumulate(Operation *loop, const Accumulator &found,
                       const PartialStart &start, const ReshardPlan &plan) {
  Value owner = found.owner;
  Value settled = found.settled->get();
  Attribute cause = getCause(settled.getDefiningOp());
  sdy::TensorShardingAttr sharding =
      sdy::fromSharding(found.sharding, found.mesh.meshOrRef, found.mesh.mesh);
  OpBuilder builder(loop);
  found.init->set(makeStart(builder, found, start, cause));
  found.settled->set(found.partial);
  eraseDeadChain(settled);
  if (found.settled == found.next) {
    found.user->getResult(0).replaceAllUsesWith(found.carried);
    found.user->erase();
  } else {
    sdy::setSharding(found.user->getResult(0), sharding);
  }
  sdy::setSharding(owner, sharding);
  builder.setInsertionPointAfter(loop);
  Value after =
      buildPlan(builder, loop->getLoc(), owner, plan, found.mesh, cause);
  Operation *first = after.getDefiningOp();
  while (first->getOperand(0) != owner)
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
      std::optional<PartialStart> start =
          found ? planStart(*found, planner) : std::nullopt;
      if (!start)
        continue;
      const ReshardPlan *plan =
          planner.plan(cast<RankedTensorType>(owner.getType()), found->sharding,
                       readSharding(owner, found->mesh.mesh), found->mesh.mesh);
      if (!plan || plan->steps.empty() ||
          start->price + plan->price >= found->price * countTrips(loop))
        continue;
      accumulate(loop, *found, *start, *plan);
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
