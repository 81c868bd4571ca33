//===- AccumulateInLoops.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/interfaces/CarriedValue.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"
#include "shardonnay/transforms/collectives/ReshardedOp.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_ACCUMULATEINLOOPSPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

namespace {
/// A value that a loop carries and to which every run adds one that it has
/// reduced before, or what ops make of that which are linear in it; or a slice
/// of which it updates so; or which it reduces after an inner loop, or several
/// ops, have added to it in parts.
struct Accumulator : CarriedValue {
  /// Operands from what is reduced in the loop to the summand that `user` adds,
  /// one of each op between and of `user`; or `next` alone. Other accumulators
  /// may read their values too.
  SmallVector<OpOperand *, 2> path;
  /// The same before it is reduced, and what that costs.
  Value partial;
  double price = 0;
  /// The ops between, computed on parts, and what moving their other operands
  /// costs: in each run, or before the loop what no run changes. An all_slice,
  /// for which there is no step, goes.
  SmallVector<std::optional<ReshardedOp>, 0> steps;
  double stepPrice = 0;
  double hoistedPrice = 0;
  sdy::NamedMesh mesh;
  /// The sharding that the carried value then has.
  TensorSharding sharding;
};
} // namespace

/// What is reduced for `operand`'s owner, or for others of its block too.
static bool readReduced(OpOperand &operand, CollectivePlanner &planner,
                        Accumulator &found) {
  Operation *last = getPlannedCollective(operand.get());
  if (!last || last->getBlock() != operand.getOwner()->getBlock())
    return false;
  ChainStart start = followChain(last->getOperand(0), last, planner);
  sdy::NamedMesh mesh = getNamedMesh(last);
  TensorSharding sharding = mesh.readClosed(start.source);
  if (sharding.unreduced.empty())
    return false;
  found.partial = start.source;
  found.price = start.price + planner.price(last);
  found.mesh = mesh;
  found.sharding = sharding;
  return true;
}

/// `op` may stand between what is reduced and the addition of what comes of it:
/// if it is linear in one of its operands.
static bool mayBeStep(Operation *op) {
  if (isa<sdy::AllSliceOp>(op))
    return true;
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  return rule && !rule.isContraction() && op->getNumResults() == 1;
}

static bool isLinearIn(OpOperand &operand, ReductionKind kind) {
  Operation *op = operand.getOwner();
  llvm::SmallBitVector partial(op->getNumOperands());
  partial.set(operand.getOperandNumber());
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  return !rule || rule.isLinear(kind, partial);
}

/// Finds what is reduced for `operand`, and the path from there to it. If
/// `found.partial` is given, that is what it looks for: what an inner loop
/// could leave in parts. What these ops touch is not weighed: they rearrange or
/// change elements one by one, which is fused into the addition. So
/// contractions, of which every device would compute more, are no steps.
static bool findReduced(OpOperand &operand, ReductionKind kind,
                        CollectivePlanner &planner, Accumulator &found,
                        unsigned depth = 0) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return false;
  if (found.partial ? operand.get() == found.partial
                    : readReduced(operand, planner, found)) {
    found.path.push_back(&operand);
    return found.sharding.kind == kind;
  }
  Operation *op = operand.get().getDefiningOp();
  if (!op || depth == kMostLinearSteps || !mayBeStep(op) ||
      op->getBlock() != operand.getOwner()->getBlock())
    return false;
  for (OpOperand &next : op->getOpOperands())
    if (isLinearIn(next, kind) &&
        findReduced(next, kind, planner, found, depth + 1)) {
      found.path.push_back(&operand);
      return true;
    }
  return false;
}

/// No run of `loop` changes what `op` reads besides `operand`.
static bool readsInvariants(Operation *op, const OpOperand &operand,
                            Operation *loop) {
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &other) {
    return &other == &operand || !loop->isAncestor(getOwnerOp(other.get())) ||
           getInvariantSource(other.get(), loop);
  });
}

/// How the ops between are computed on parts; false if one can't be.
static bool reshardSteps(Accumulator &found, CollectivePlanner &planner) {
  Value source = found.partial;
  for (OpOperand *operand : ArrayRef(found.path).drop_back()) {
    Operation *op = operand->getOwner();
    if (isa<sdy::AllSliceOp>(op)) {
      found.steps.emplace_back();
      continue;
    }
    std::optional<ReshardedOp> resharded = ReshardedOp::get(op, found.mesh);
    if (!resharded ||
        !resharded->replaceOperand(operand->getOperandNumber(), source,
                                   found.sharding) ||
        !resharded->plan(planner))
      return false;
    found.sharding = resharded->getResult();
    (readsInvariants(op, *operand, found.init->getOwner()) ? found.hoistedPrice
                                                           : found.stepPrice) +=
        resharded->operandPrice();
    found.steps.push_back(std::move(resharded));
    source = op->getResult(0);
  }
  return true;
}

/// Each run puts into the carried value what it has reduced before: `summand`,
/// which `user` adds to it or updates a slice of it with.
static bool readSummand(OpOperand &summand, ReductionKind kind,
                        Accumulator &found, CollectivePlanner &planner) {
  Operation *user = found.user;
  unsigned carried = found.carried.use_begin()->getOperandNumber(),
           number = summand.getOperandNumber();
  if (!isLinearInBoth(*found.carried.use_begin(), summand, kind) ||
      !findReduced(summand, kind, planner, found) ||
      !reshardSteps(found, planner))
    return false;
  std::optional<ReshardedOp> sum = ReshardedOp::get(user, found.mesh);
  if (!sum || !sum->passParts(carried, number, found.sharding))
    return false;
  found.sharding = sum->getResult();
  return true;
}

/// `user` makes parts of the carried value, and what each run reduces is made
/// of these, op by op, in parts: an inner loop adds to them, or several ops do.
static bool isGivenInParts(const Accumulator &found) {
  if (!isa<sdy::ReplicatedToUnreducedOp, sdy::ShardedToUnreducedOp>(found.user))
    return false;
  Value parts = found.user->getResult(0);
  while (parts != found.partial) {
    if (!parts.hasOneUse() || found.mesh.readClosed(parts) != found.sharding)
      return false;
    OpOperand &use = *parts.use_begin();
    Operation *op = use.getOwner();
    Value owner = getEdgeOwner(use);
    if (op->getBlock() != found.user->getBlock() ||
        (!owner && op->getNumResults() != 1))
      return false;
    parts = owner ? owner : op->getResult(0);
  }
  return found.mesh.readClosed(parts) == found.sharding;
}

/// What each run reduces is the carried value and what it has added to that in
/// parts.
static bool readSumInParts(Accumulator &found, CollectivePlanner &planner) {
  found.path = {found.next};
  return readReduced(*found.next, planner, found) && isGivenInParts(found);
}

/// The loop's class of `owner`, if it is one. `partial`, `sharding` and `price`
/// of `found` may be of what an inner loop could leave in parts.
static std::optional<Accumulator>
readAccumulator(ShardableDataFlowOpInterface loop, Value owner,
                CollectivePlanner &planner, Accumulator found = {}) {
  if (!isa<RankedTensorType>(owner.getType()) || loop.getManualBoundary(owner))
    return std::nullopt;
  std::optional<CarriedValue> value = readCarried(loop, owner);
  if (!value)
    return std::nullopt;
  static_cast<CarriedValue &>(found) = *value;
  Operation *user = found.user;
  if (isa<ShardingRuleOpInterface>(user) && found.isLeftByUser())
    for (ReductionKind kind :
         {ReductionKind::Sum, ReductionKind::Max, ReductionKind::Min})
      for (OpOperand &summand : user->getOpOperands())
        if (Accumulator read = found; readSummand(summand, kind, read, planner))
          return read;
  if (!found.partial && readSumInParts(found, planner))
    return found;
  return std::nullopt;
}

namespace {
/// How a loop's start becomes one in parts: moved first, where `plan` says,
/// then each device puts what it has in its place in the whole (`pieces`), then
/// one of those that have the same keeps it (`whole`).
struct PartialStart {
  const ReshardPlan *plan = nullptr;
  SmallVector<AxisList> shards;
  AxisList whole;
  double price = 0;
};
} // namespace

/// Nothing if there is no way. A start from zeros need not be moved.
static std::optional<PartialStart> planStart(const Accumulator &found,
                                             CollectivePlanner &planner) {
  PartialStart start;
  if (found.sharding.kind == ReductionKind::Sum &&
      isKnownZeros(found.init->get()))
    return start;
  TensorSharding present = found.mesh.readClosed(found.init->get());
  if (!present.unreduced.empty())
    return std::nullopt;
  TensorSharding reduced = found.sharding;
  reduced.unreduced = AxisList();
  reduced.kind = ReductionKind::Sum;
  const AxisList &parts = found.sharding.unreduced;
  start.whole = parts;
  auto fits = [&](auto dims) {
    auto [has, needs] = dims;
    return needs.axes.isPrefixOf(has.axes) &&
           llvm::all_of(has.axes.dropPrefix(needs.axes),
                        [&](AxisRef axis) { return parts.covers(axis); });
  };
  auto dims = llvm::zip_equal(present.dims, reduced.dims);
  auto type = cast<RankedTensorType>(found.owner.getType());
  if (llvm::all_of(dims, fits)) {
    for (auto [has, needs] : dims) {
      start.shards.push_back(has.axes.dropPrefix(needs.axes));
      start.whole = start.whole.subtract(start.shards.back());
    }
  } else {
    start.plan = planner.plan(type, present, reduced, found.mesh.mesh);
    if (!start.plan)
      return std::nullopt;
    start.price = start.plan->price;
  }
  start.price += planner.memoryPrice(2.0 * sdy::getShardBytes(type, reduced),
                                     found.mesh.mesh);
  return start;
}

/// Writes what `start` says, before the loop.
static Value makeStart(OpBuilder &builder, const Accumulator &found,
                       const PartialStart &start, Attribute cause) {
  const sdy::NamedMesh &mesh = found.mesh;
  Value value = found.init->get();
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  if (!start.plan && start.whole.empty() && start.shards.empty())
    return makeZeros(builder, value, found.sharding, mesh);
  auto list = [&](const AxisList &axes) { return mesh.write(axes); };
  if (start.plan)
    value = buildPlan(builder, loc, value, *start.plan, mesh, cause);
  if (!sdy::getSharding(value))
    sdy::setSharding(value, mesh.write(mesh.readClosed(value)));
  if (start.whole != found.sharding.unreduced) {
    TensorSharding spread = found.sharding;
    spread.unreduced = spread.unreduced.subtract(start.whole).sorted();
    value = sdy::ShardedToUnreducedOp::create(
        builder, loc, type, value,
        sdy::ListOfAxisRefListsAttr::get(
            builder.getContext(), llvm::map_to_vector(start.shards, list)),
        mesh.write(spread));
  }
  if (!start.whole.empty())
    value = sdy::ReplicatedToUnreducedOp::create(builder, loc, type, value,
                                                 list(start.whole),
                                                 mesh.write(found.sharding));
  return value;
}

/// What it costs that a device carries more of `found` in parts than it did.
static double priceHeld(Operation *loop, const Accumulator &found) {
  auto type = cast<RankedTensorType>(found.owner.getType());
  int64_t more = sdy::getShardBytes(type, found.sharding) -
                 sdy::getShardBytes(type, found.mesh.readClosed(found.owner));
  return sdy::getMemoryPrice(loop) * std::max<int64_t>(more, 0);
}

namespace {
/// How a loop carries an accumulator in parts, and what that saves.
struct PartialLoop {
  PartialStart start;
  const ReshardPlan *plan = nullptr;
  /// In one run of what is around the loop.
  double saved = 0;
};
} // namespace

/// Carries `found` unreduced, and reduces it behind the loop. `done` are the
/// steps that another accumulator has changed.
static void accumulate(Operation *loop, Accumulator &found,
                       const PartialLoop &plan,
                       llvm::SetVector<Operation *> &done) {
  Value owner = found.owner;
  Value reduced = found.path.front()->get();
  Attribute cause = getCause(reduced.getDefiningOp());
  sdy::TensorShardingAttr sharding = found.mesh.write(found.sharding);
  OpBuilder builder(loop);
  found.init->set(makeStart(builder, found, plan.start, cause));
  found.path.front()->set(found.partial);
  for (auto [operand, step] : llvm::zip(found.path, found.steps)) {
    if (!done.insert(operand->getOwner()))
      continue;
    if (step)
      step->apply(cause, /*keepSharding=*/true);
    else
      operand->getOwner()->getResult(0).replaceAllUsesWith(operand->get());
  }
  eraseDeadChain(reduced);
  if (found.path.front() == found.next) {
    found.user->getResult(0).replaceAllUsesWith(found.carried);
    found.user->erase();
  } else {
    sdy::setSharding(found.user->getResult(0), sharding);
  }
  sdy::setSharding(owner, sharding);
  builder.setInsertionPointAfter(loop);
  Value after =
      buildPlan(builder, loop->getLoc(), owner, *plan.plan, found.mesh, cause);
  Operation *first = after.getDefiningOp();
  while (first->getOperand(0) != owner)
    first = first->getOperand(0).getDefiningOp();
  owner.replaceAllUsesExcept(after, first);
}

/// Nothing else reads what `operands` read, and no op reads two of them: it is
/// linear in one.
static bool areOnlyReaders(ArrayRef<OpOperand *> operands) {
  llvm::SmallSetVector<OpOperand *, 8> known(llvm::from_range, operands);
  llvm::SmallPtrSet<Operation *, 8> readers;
  return llvm::all_of(known, [&](OpOperand *operand) {
    return readers.insert(operand->getOwner()).second &&
           llvm::all_of(operand->get().getUses(),
                        [&](OpOperand &use) { return known.contains(&use); });
  });
}

static double findSavedAround(ShardableDataFlowOpInterface loop,
                              const Accumulator &found, double price,
                              CollectivePlanner &planner);

/// Each run puts another slice into the carried value: there is as much to be
/// reduced behind the loop as in it. That saves the start of some collectives,
/// but may hold many times as much.
static bool updatesSlices(Operation *user) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(user);
  return rule && !rule.isElementwise();
}

/// Nothing if there is no way.
static std::optional<PartialLoop> planLoop(ShardableDataFlowOpInterface loop,
                                           const Accumulator &found,
                                           CollectivePlanner &planner) {
  std::optional<PartialStart> start = planStart(found, planner);
  if (!start)
    return std::nullopt;
  const ReshardPlan *plan = planner.plan(
      cast<RankedTensorType>(found.owner.getType()), found.sharding,
      found.mesh.readClosed(found.owner), found.mesh.mesh);
  if (!plan || plan->steps.empty())
    return std::nullopt;
  double around = findSavedAround(loop, found, plan->price, planner);
  if (around == 0 && updatesSlices(found.user))
    return std::nullopt;
  double saved = (found.price - found.stepPrice) * sdy::countTrips(loop) -
                 found.hoistedPrice - start->price - plan->price + around;
  return PartialLoop{std::move(*start), plan, saved};
}

/// What is saved, in each run of the loop around `loop`, if that one carries on
/// in parts what `loop` leaves in parts, instead of paying `price` for it.
static double findSavedAround(ShardableDataFlowOpInterface loop,
                              const Accumulator &found, double price,
                              CollectivePlanner &planner) {
  auto around = dyn_cast<ShardableDataFlowOpInterface>(loop->getParentOp());
  if (!around || !isLoop(around) || !found.owner.hasOneUse())
    return 0;
  Accumulator outer;
  outer.partial = found.owner;
  outer.sharding = found.sharding;
  outer.mesh = found.mesh;
  outer.price = price;
  for (Value owner : around.getEdgeOwners()) {
    std::optional<Accumulator> read =
        readAccumulator(around, owner, planner, outer);
    if (!read || !areOnlyReaders(read->path))
      continue;
    std::optional<PartialLoop> plan = planLoop(around, *read, planner);
    return plan ? std::max(plan->saved, 0.0) / sdy::countTrips(around) : 0;
  }
  return 0;
}

namespace {
/// Accumulators of a loop that read one reduced value: a cell that computes its
/// gates at once adds slices of one gradient to those of its weights. A run
/// need not reduce it if nothing else reads it.
struct SharedReduction {
  SmallVector<std::pair<Accumulator, PartialLoop>, 1> readers;

  bool hasOtherReaders() const;
  /// What is saved where all of them are carried in parts: the reduction once,
  /// less what each of them holds.
  double findSaved(Operation *loop) const;
};
} // namespace

bool SharedReduction::hasOtherReaders() const {
  SmallVector<OpOperand *> all;
  for (const auto &[found, plan] : readers)
    llvm::append_range(all, found.path);
  return !areOnlyReaders(all);
}

double SharedReduction::findSaved(Operation *loop) const {
  const Accumulator &first = readers.front().first;
  double saved = first.price * sdy::countTrips(loop) *
                 (1 - static_cast<double>(readers.size()));
  for (const auto &[found, plan] : readers)
    saved += plan.saved - priceHeld(loop, found);
  return saved;
}

/// The accumulators of `loop`, by what is reduced for them.
static llvm::MapVector<Value, SharedReduction>
readReductions(ShardableDataFlowOpInterface loop, CollectivePlanner &planner) {
  llvm::MapVector<Value, SharedReduction> reductions;
  for (Value owner : loop.getEdgeOwners()) {
    std::optional<Accumulator> found = readAccumulator(loop, owner, planner);
    if (!found)
      continue;
    if (std::optional<PartialLoop> plan = planLoop(loop, *found, planner))
      reductions[found->path.front()->get()].readers.emplace_back(
          std::move(*found), std::move(*plan));
  }
  return reductions;
}

bool accumulateInLoops(const CollectiveSites &sites,
                       CollectivePlanner &planner) {
  bool changed = false;
  // Inner loops first: what leaves one in parts may leave the next so.
  for (Operation *op : llvm::reverse(sites.loops)) {
    auto loop = dyn_cast<ShardableDataFlowOpInterface>(op);
    if (!loop)
      continue;
    for (auto &[reduced, reduction] : readReductions(loop, planner)) {
      if (reduction.hasOtherReaders() || reduction.findSaved(loop) <= 0)
        continue;
      llvm::SetVector<Operation *> done;
      for (auto &[found, plan] : reduction.readers)
        accumulate(loop, found, plan, done);
      for (Operation *step : done)
        if (step->use_empty())
          step->erase();
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
