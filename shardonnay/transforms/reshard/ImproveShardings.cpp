//===- ImproveShardings.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/ImproveShardings.h"
#include "shardonnay/dialect/sdy/OpSignatures.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/Pieces.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/transforms/reshard/WantedShardings.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// Uses that are weighed, and shardings that are tried.
constexpr size_t kMostUses = 16;
constexpr size_t kMostTrials = 6;
/// What it must save, of the price before: more than rounding.
constexpr double kLeastSaving = 1e-6;
/// What it must save, of the price of the move, where users that have nothing
/// moved are to see what is moved for others. Less is not worth it: what was
/// one bucket of collectives may become two.
constexpr double kLeastSharedSaving = 0.1;

class Improver {
public:
  Improver(BlockCases &cases, OpChoosers &choosers, const MemoryPrices &memory)
      : cases(cases), scope(cases.getScope()), choosers(choosers),
        memory(memory), chooser(choosers.get(scope)),
        open(cases.getEntries().size()) {
    for (int32_t number = 0; number < static_cast<int32_t>(open.size());
         ++number) {
      openAround(number);
      if (memory.contains(cases.getEntries()[number].op))
        open.set(number);
    }
  }

  /// Where shardings are equally cheap, the one that is taken: what the value
  /// has, how its producer leaves it, or how some user needs it.
  enum class Tie { Stays, Producer, User };

  /// The results of op `number`, if something may move around them.
  void visitResults(int32_t number, Tie tie);
  void visit(Value value, Tie tie);
  /// What was saved so far.
  double getSaved() const { return saved; }
  /// Takes back what was done for a tie.
  void undoTies();
  bool foundMoves() const { return movesSomething; }

private:
  /// If op `number` has something moved, it and those that make its operands
  /// are open.
  void openAround(int32_t number);
  /// The decision of an op of the block; null if it has none.
  const OpDecision *decisionOf(int32_t number) const;
  /// Fills in `users` and `producer`; false if nothing moves around the value,
  /// or not all that uses it is known.
  bool readAround(Value value);
  /// An op makes or takes it otherwise than it lies.
  bool moves(Value value) const;
  /// How `producer`, which has a decision, leaves the value.
  const TensorSharding &leftByProducer(OpResult value) const {
    return *decisionOf(producer)->needed[value.getOwner()->getNumOperands() +
                                         value.getResultNumber()];
  }
  SmallVector<TensorSharding, 4> collectTrials(Value value) const;
  /// `value` cut along one more axis.
  SmallVector<TensorSharding, 4> collectShardings(Value value) const;
  /// Of a byte of `value`.
  double memoryPrice(Value value) const {
    return memory.lookup(value.getDefiningOp());
  }
  /// The value that the users see, in `sharding`, and the price of all around
  /// it; nothing if some op has no plan or repeats work.
  std::optional<double> priceAround(Value value);
  std::optional<double> priceOfUser(size_t i);
  double sharedPrice(Value value);
  std::optional<double> priceOf(int32_t number);
  std::optional<double> reshardPrice(Value value, const TensorSharding &to);
  int64_t shardsOf(int32_t number) const;

  Improvement findItself(OpResult value, Tie tie);
  void moveItself(OpResult value, const Improvement &improvement);
  std::optional<TensorSharding> preferredBy(OpResult value, Tie tie) const;
  void moveBehind(Value value);
  void redirect(Value from, Value to, ArrayRef<int32_t> numbers);
  SmallVector<int32_t, 8> redirectGaining(Value value, Value seen,
                                          ArrayRef<double> before);
  Value insertReshard(Value value, const TensorSharding &sharding);

  BlockCases &cases;
  const MeshScope &scope;
  OpChoosers &choosers;
  const MemoryPrices &memory;
  OpChooser &chooser;

  /// Around the value that is looked at: the op that makes it (-1: none that
  /// may make it otherwise), its users, how far they were cut, and how others
  /// need it.
  int32_t producer = -1;
  SmallVector<int32_t, 8> users;
  SmallVector<int64_t, 8> leastShards;
  SmallVector<TensorSharding, 2> fixedNeeds;

  /// What tells this value and what is around it from others.
  sdy::Words makeKey(Value value, Tie tie) const;
  uintptr_t wordOf(int32_t number) const;

  /// The ops around whose results something may move: most agree with all
  /// around them.
  BitVector open;
  bool movesSomething = false;
  double saved = 0;
  /// Values that were moved for a tie, and how they lay.
  std::vector<std::pair<OpResult, TensorSharding>> ties;
};

const OpDecision *Improver::decisionOf(int32_t number) const {
  if (number < 0)
    return nullptr;
  auto [op, opCase] = cases.getEntries()[number];
  return opCase && !opCase->onOneDevice ? opCase->decision : nullptr;
}

void Improver::openAround(int32_t number) {
  const OpDecision *decision = decisionOf(number);
  if (!decision || decision->differs.none())
    return;
  open.set(number);
  for (Value operand : cases.getEntries()[number].op->getOperands())
    if (int32_t other = cases.producerOf(operand); other >= 0)
      open.set(other);
}

int64_t Improver::shardsOf(int32_t number) const {
  int64_t shards = 1;
  for (const AxisList &axes : *decisionOf(number)->assignment)
    shards *= axes.numShards();
  return shards;
}

std::optional<double> Improver::priceOf(int32_t number) {
  auto [op, opCase] = cases.getEntries()[number];
  return choosers.price(op, *opCase->rule, scope, *opCase->decision,
                        [&](Value value) { return cases.isConstant(value); });
}

std::optional<double> Improver::reshardPrice(Value value,
                                             const TensorSharding &to) {
  return priceOfReshard(chooser, cast<RankedTensorType>(value.getType()),
                        scope.read(value), to);
}

/// A dim of the operand has to be whole: that it is gathered is said at the op,
/// so there it has to stand.
static bool needsWhole(const FactorRule &rule, unsigned operand) {
  return any_of(rule.operands[operand].dims, [&](const DimFactors &factors) {
    return any_of(factors,
                  [&](int32_t f) { return !canBeSharded(rule.factors[f]); });
  });
}

bool Improver::moves(Value value) const {
  auto differsAt = [&](int32_t number, unsigned tensor) {
    const OpDecision *decision = decisionOf(number);
    return decision && decision->differs.test(tensor);
  };
  if (auto result = dyn_cast<OpResult>(value))
    if (differsAt(cases.producerOf(value), result.getOwner()->getNumOperands() +
                                               result.getResultNumber()))
      return true;
  return any_of(value.getUses(), [&](OpOperand &use) {
    return differsAt(cases.numberOf(use.getOwner()), use.getOperandNumber());
  });
}

bool Improver::readAround(Value value) {
  producer = -1;
  users.clear();
  leastShards.clear();
  fixedNeeds.clear();
  if (memoryPrice(value) == 0 && !moves(value))
    return false;
  size_t uses = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (++uses > kMostUses || user->getBlock() != value.getParentBlock())
      return false;
    int32_t number = cases.numberOf(user);
    if (decisionOf(number)) {
      if (needsWhole(*cases.getEntries()[number].opCase->rule,
                     use.getOperandNumber()))
        return false;
      if (!is_contained(users, number))
        users.push_back(number);
    } else if (const TensorSharding *need = neededAt(use, cases)) {
      fixedNeeds.push_back(*need);
    } else {
      return false;
    }
  }
  if (users.empty())
    return false;
  if (isa<OpResult>(value))
    if (int32_t number = cases.producerOf(value); decisionOf(number))
      producer = number;
  return true;
}

SmallVector<TensorSharding, 4> Improver::collectTrials(Value value) const {
  SmallVector<TensorSharding, 4> trials;
  const TensorSharding &present = scope.read(value);
  auto add = [&](TensorSharding sharding) {
    sharding.unreduced = AxisList();
    sharding.kind = ReductionKind::Sum;
    if (sharding != present && trials.size() < kMostTrials &&
        !is_contained(trials, sharding))
      trials.push_back(std::move(sharding));
  };
  if (producer >= 0)
    add(leftByProducer(cast<OpResult>(value)));
  for (OpOperand &use : value.getUses())
    if (const OpDecision *decision = decisionOf(cases.numberOf(use.getOwner())))
      add(*decision->needed[use.getOperandNumber()]);
  add(TensorSharding::fullyClosed(present.dims.size()));
  return trials;
}

SmallVector<TensorSharding, 4> Improver::collectShardings(Value value) const {
  SmallVector<TensorSharding, 4> cuts;
  const TensorSharding &present = scope.read(value);
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  for (AxisRef axis : scope.toMesh().allAxes())
    for (auto [dim, size] : enumerate(shape)) {
      TensorSharding cut = present;
      AxisList &axes = cut.dims[dim].axes;
      axes.append(axis);
      if (!present.uses(axis) && size > 0 && size % axes.numShards() == 0)
        cuts.push_back(std::move(cut));
    }
  return cuts;
}

std::optional<double> Improver::priceOfUser(size_t i) {
  int32_t number = users[i];
  if (!decisionOf(number))
    return std::nullopt;
  if (leastShards.size() <= i)
    leastShards.push_back(shardsOf(number));
  if (shardsOf(number) < leastShards[i])
    return std::nullopt;
  return priceOf(number);
}

/// What the users of `value` pay together more than once.
double Improver::sharedPrice(Value value) {
  double sum = 0;
  SmallVector<TensorSharding, 4> paid;
  for (OpOperand &use : value.getUses()) {
    const OpDecision *decision = decisionOf(cases.numberOf(use.getOwner()));
    if (!decision || !decision->differs.test(use.getOperandNumber()))
      continue;
    const TensorSharding &need = *decision->needed[use.getOperandNumber()];
    if (is_contained(paid, need))
      sum += reshardPrice(value, need).value_or(0);
    else
      paid.push_back(need);
  }
  return sum;
}

std::optional<double> Improver::priceAround(Value value) {
  double sum = 0;
  for (size_t i = 0; i < users.size(); ++i) {
    std::optional<double> price = priceOfUser(i);
    if (!price)
      return std::nullopt;
    sum += *price;
  }
  return sum - sharedPrice(value);
}

Value Improver::insertReshard(Value value, const TensorSharding &sharding) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  return sdy::ReshardOp::create(builder, value.getLoc(), value,
                                scope.write(sharding));
}

/// Tries to give the value another sharding; leaves it as it is.
Improvement Improver::findItself(OpResult value, Tie tie) {
  Improvement improvement;
  TensorSharding present = scope.read(value), best = present;
  // Of all but what its users do.
  auto priceMade = [&]() -> std::optional<double> {
    std::optional<double> sum = priceOf(producer);
    if (double price = memoryPrice(value); sum && price)
      *sum +=
          price * sdy::getPieceBytes(cast<RankedTensorType>(value.getType()),
                                     scope.read(value));
    SmallVector<TensorSharding, 2> paid;
    for (const TensorSharding &need : fixedNeeds) {
      if (!sum || is_contained(paid, need))
        continue;
      paid.push_back(need);
      std::optional<double> price = reshardPrice(value, need);
      sum = price ? std::optional(*sum + *price) : std::nullopt;
    }
    return sum;
  };
  std::optional<double> made = priceMade(), least = priceAround(value);
  if (!least || !made)
    return improvement;
  *least += *made;
  double before = *least;
  int64_t madeShards = shardsOf(producer);
  SmallVector<TensorSharding, 4> trials = collectTrials(value);
  if (memoryPrice(value) > 0)
    append_range(trials, collectShardings(value));
  std::optional<TensorSharding> preferred = preferredBy(value, tie);
  for (const TensorSharding &trial : trials) {
    bool mayBeAsGood = best == present && trial == preferred, goesOn = false;
    double limit =
        mayBeAsGood ? before * (1 + kLeastSaving) : *least * (1 - kLeastSaving);
    cases.tryChange(value, trial, [&] {
      made = priceMade();
      return goesOn =
                 made && shardsOf(producer) >= madeShards && *made <= limit;
    });
    std::optional<double> price = goesOn ? priceAround(value) : std::nullopt;
    if (!price)
      continue;
    *price += *made;
    if (mayBeAsGood ? *price <= limit : *price < limit) {
      least = price;
      best = trial;
    }
  }
  if (!trials.empty())
    cases.change(value, present, [](int32_t) {});
  if (best != present) {
    improvement.sharding = scope.write(best);
    improvement.isTie = *least >= before * (1 - kLeastSaving);
    improvement.saved = improvement.isTie ? 0 : before - *least;
  }
  return improvement;
}

void Improver::moveItself(OpResult value, const Improvement &improvement) {
  if (!improvement.sharding)
    return;
  if (improvement.isTie)
    ties.push_back({value, scope.read(value)});
  saved += improvement.saved;
  cases.change(value,
               scope.read(improvement.sharding,
                          cast<RankedTensorType>(value.getType()).getRank()),
               [&](int32_t number) { openAround(number); });
}

std::optional<TensorSharding> Improver::preferredBy(OpResult value,
                                                    Tie tie) const {
  if (tie == Tie::Producer)
    return leftByProducer(value);
  if (tie == Tie::User)
    for (OpOperand &use : value.getUses())
      if (const OpDecision *decision =
              decisionOf(cases.numberOf(use.getOwner()));
          decision && decision->differs.test(use.getOperandNumber()))
        return *decision->needed[use.getOperandNumber()];
  return std::nullopt;
}

void Improver::undoTies() {
  for (auto &[value, sharding] : llvm::reverse(ties))
    cases.change(value, sharding, [](int32_t) {});
  ties.clear();
}

void Improver::redirect(Value from, Value to, ArrayRef<int32_t> numbers) {
  for (int32_t number : numbers) {
    cases.getEntries()[number].op->replaceUsesOfWith(from, to);
    cases.readAgain(number);
    openAround(number);
  }
}

/// The users that are cheaper when they see `seen`, which takes the place of
/// `value`, than they were; the others see `value` again.
SmallVector<int32_t, 8> Improver::redirectGaining(Value value, Value seen,
                                                  ArrayRef<double> before) {
  redirect(value, seen, users);
  SmallVector<int32_t, 8> gaining, others;
  for (auto [i, number] : llvm::enumerate(users)) {
    std::optional<double> price = priceOfUser(i);
    bool gains = price && *price < before[i] * (1 - kLeastSaving);
    (gains ? gaining : others).push_back(number);
  }
  redirect(seen, value, others);
  return gaining;
}

/// Tries to put a reshard between the value and those of its users that are
/// cheaper for it: one that would not have the value moved for itself may take
/// what is moved for others anyway.
void Improver::moveBehind(Value value) {
  std::optional<double> least = priceAround(value);
  if (!least || users.size() < 2)
    return;
  double before = *least;
  SmallVector<double, 8> alone;
  for (size_t i = 0; i < users.size(); ++i)
    alone.push_back(priceOfUser(i).value_or(HUGE_VAL));
  SmallVector<int32_t, 8> movers;
  for (OpOperand &use : value.getUses())
    if (int32_t number = cases.numberOf(use.getOwner());
        decisionOf(number) &&
        decisionOf(number)->differs.test(use.getOperandNumber()))
      movers.push_back(number);
  std::optional<TensorSharding> best;
  SmallVector<int32_t, 8> bestUsers;
  for (const TensorSharding &trial : collectTrials(value)) {
    std::optional<double> moving = reshardPrice(value, trial);
    if (!moving)
      continue;
    Value seen = insertReshard(value, trial);
    SmallVector<int32_t, 8> gaining = redirectGaining(value, seen, alone);
    std::optional<double> price = priceAround(value);
    if (gaining.size() > 1 && price)
      *price += *moving - sharedPrice(seen);
    bool movesAll = llvm::all_of(
        gaining, [&](int32_t number) { return is_contained(movers, number); });
    double enough = *least * kLeastSaving;
    if (!movesAll)
      enough = std::max(enough, *moving * kLeastSharedSaving);
    if (gaining.size() > 1 && price && *price < *least - enough) {
      least = price;
      best = trial;
      bestUsers = gaining;
    }
    redirect(seen, value, gaining);
    cases.forget(seen);
    seen.getDefiningOp()->erase();
  }
  if (!best)
    return;
  saved += before - *least;
  redirect(value, insertReshard(value, *best), bestUsers);
}

void Improver::visitResults(int32_t number, Tie tie) {
  if (open.test(number))
    for (OpResult result : cases.getEntries()[number].op->getResults())
      visit(result, tie);
}

void Improver::visit(Value value, Tie tie) {
  if (!isa<RankedTensorType>(value.getType()) || value.use_empty() ||
      cases.isConstant(value) || !readAround(value) ||
      !scope.read(value).unreduced.empty())
    return;
  movesSomething = true;
  auto [improvement, isNew] =
      choosers.getCases().improvements.find(makeKey(value, tie));
  if (improvement.isFruitless)
    return;
  double savedBefore = saved;
  if (producer >= 0) {
    auto result = cast<OpResult>(value);
    if (isNew)
      improvement = findItself(result, tie);
    moveItself(result, improvement);
  }
  if (readAround(value))
    moveBehind(value);
  improvement.isFruitless = !improvement.sharding && saved == savedBefore;
}

/// An op's decision stands for its rule and for all that its tensors are
/// (OpChoosers). Only the rule of one that may pick positions is another where
/// its result is cut otherwise.
uintptr_t Improver::wordOf(int32_t number) const {
  const OpDecision *decision = decisionOf(number);
  if (!decision)
    return 0;
  auto [op, opCase] = cases.getEntries()[number];
  auto local = dyn_cast<LocalComputeOpInterface>(op);
  return local && local.getPickingRule() ? sdy::toWord(opCase)
                                         : sdy::toWord(decision);
}

sdy::Words Improver::makeKey(Value value, Tie tie) const {
  sdy::Words key = {sdy::toWord(value.getType().getAsOpaquePointer()),
                    sdy::toWord(sdy::getSharding(value).getAsOpaquePointer()),
                    static_cast<uintptr_t>(tie), wordOf(producer),
                    llvm::bit_cast<uintptr_t>(memoryPrice(value))};
  if (producer >= 0)
    key.push_back(cast<OpResult>(value).getResultNumber());
  for (const TensorSharding &need : fixedNeeds)
    key.push_back(sdy::toWord(scope.write(need).getAsOpaquePointer()));
  for (OpOperand &use : value.getUses())
    if (int32_t number = cases.numberOf(use.getOwner()); decisionOf(number)) {
      key.push_back(wordOf(number));
      key.push_back(use.getOperandNumber());
    }
  return key;
}

} // namespace

static void sweepBack(Improver &improver, const BlockCases &cases,
                      Improver::Tie tie) {
  for (int32_t number = cases.getEntries().size(); number-- > 0;)
    improver.visitResults(number, tie);
}

void improveShardings(Block &block, BlockCases &cases, OpChoosers &choosers,
                      const MemoryPrices &memory) {
  Improver improver(cases, choosers, memory);
  sweepBack(improver, cases, Improver::Tie::Stays);
  for (BlockArgument argument : block.getArguments())
    improver.visit(argument, Improver::Tie::Stays);
  if (!improver.foundMoves())
    return;
  double saved = improver.getSaved();
  int32_t numOps = cases.getEntries().size();
  for (int32_t number = 0; number < numOps; ++number)
    improver.visitResults(number, Improver::Tie::Producer);
  sweepBack(improver, cases, Improver::Tie::User);
  if (improver.getSaved() == saved)
    improver.undoTies();
}

} // namespace shardonnay
