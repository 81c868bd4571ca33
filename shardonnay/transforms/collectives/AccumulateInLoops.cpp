//===- AccumulateInLoops.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/collectives/Accumulator.h"
#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_ACCUMULATEINLOOPSPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

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

/// Has the ops on the summand's path computed on parts. `done` are those that
/// another accumulator has changed.
static void applySteps(ReducedSummand &summand,
                       llvm::SetVector<Operation *> &done) {
  Value reduced = summand.getReduced();
  summand.path.front()->set(summand.partial);
  for (auto [operand, step] : llvm::zip(summand.path, summand.steps)) {
    if (!done.insert(operand->getOwner()))
      continue;
    if (step)
      step->apply(summand.cause, /*keepSharding=*/true);
    else
      operand->getOwner()->getResult(0).replaceAllUsesWith(operand->get());
  }
  eraseDeadChain(reduced);
}

/// Carries `found` unreduced, and reduces it behind the loop.
static void accumulate(Operation *loop, Accumulator &found,
                       const PartialLoop &plan,
                       llvm::SetVector<Operation *> &done) {
  Value owner = found.owner;
  Attribute cause = found.summands.front().cause;
  sdy::TensorShardingAttr sharding = found.mesh.write(found.sharding);
  OpBuilder builder(loop);
  found.init->set(makeStart(builder, found, plan.start, cause));
  for (ReducedSummand &summand : found.summands)
    applySteps(summand, done);
  for (Operation *addition : found.additions)
    sdy::setSharding(addition->getResult(0), sharding);
  if (found.additions.empty()) {
    found.user->getResult(0).replaceAllUsesWith(found.carried);
    found.user->erase();
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
  if (around == 0 && llvm::any_of(found.additions, updatesSlices))
    return std::nullopt;
  double price = 0, hoisted = 0;
  for (const ReducedSummand &summand : found.summands) {
    price += summand.price - summand.stepPrice;
    hoisted += summand.hoistedPrice;
  }
  double saved = price * sdy::countTrips(loop) - hoisted - start->price -
                 plan->price + around;
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
  ReducedSummand given;
  given.partial = found.owner;
  given.sharding = found.sharding;
  given.mesh = found.mesh;
  given.price = price;
  for (Value owner : around.getEdgeOwners()) {
    std::optional<Accumulator> read =
        readAccumulator(around, owner, planner, &given);
    if (!read || !areOnlyReaders(read->summands.front().path))
      continue;
    std::optional<PartialLoop> plan = planLoop(around, *read, planner);
    return plan ? std::max(plan->saved, 0.0) / sdy::countTrips(around) : 0;
  }
  return 0;
}

namespace {
/// Accumulators of a loop that read the same reduced values: a cell that
/// computes its gates at once adds slices of one gradient to those of its
/// weights. A run need not reduce a value if nothing else reads it.
struct SharedReductions {
  SmallVector<std::pair<Accumulator, PartialLoop>, 0> readers;

  bool haveOtherReaders() const;
  /// What is saved where all of them are carried in parts: each reduction once,
  /// less what each of them holds.
  double findSaved(Operation *loop) const;
};
} // namespace

bool SharedReductions::haveOtherReaders() const {
  SmallVector<OpOperand *> all;
  for (const auto &[found, plan] : readers)
    for (const ReducedSummand &summand : found.summands)
      llvm::append_range(all, summand.path);
  return !areOnlyReaders(all);
}

double SharedReductions::findSaved(Operation *loop) const {
  double saved = 0;
  llvm::DenseSet<Value> counted;
  for (const auto &[found, plan] : readers) {
    saved += plan.saved - priceHeld(loop, found);
    for (const ReducedSummand &summand : found.summands)
      if (!counted.insert(summand.getReduced()).second)
        saved -= summand.price * sdy::countTrips(loop);
  }
  return saved;
}

/// The accumulators of `loop`, those that read one reduced value together.
static SmallVector<SharedReductions, 0>
readReductions(ShardableDataFlowOpInterface loop, CollectivePlanner &planner) {
  SmallVector<std::pair<Accumulator, PartialLoop>, 0> all;
  for (Value owner : loop.getEdgeOwners())
    if (std::optional<Accumulator> found =
            readAccumulator(loop, owner, planner))
      if (std::optional<PartialLoop> plan = planLoop(loop, *found, planner))
        all.emplace_back(std::move(*found), std::move(*plan));
  llvm::IntEqClasses classes(all.size());
  llvm::DenseMap<Value, unsigned> firstReaders;
  for (auto [i, reader] : llvm::enumerate(all))
    for (const ReducedSummand &summand : reader.first.summands)
      classes.join(
          i, firstReaders.try_emplace(summand.getReduced(), i).first->second);
  classes.compress();
  SmallVector<SharedReductions, 0> reductions(classes.getNumClasses());
  for (auto [i, reader] : llvm::enumerate(all))
    reductions[classes[i]].readers.push_back(std::move(reader));
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
    for (SharedReductions &reductions : readReductions(loop, planner)) {
      if (reductions.haveOtherReaders() || reductions.findSaved(loop) <= 0)
        continue;
      llvm::SetVector<Operation *> done;
      for (auto &[found, plan] : reductions.readers)
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
