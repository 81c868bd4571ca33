//===- LocalSearch.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each value around which something is resharded (`visit`):
//   1. `readAround`: its producer and its users, and the fixed needs.
//   2. `findSharding`: the trials (`collectTrials`) are priced by what the ops
//      around the value would do; the cheapest is taken (`moveValue`).
//   3. `addSharedCopy`: likewise for a copy that some users read.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/LocalSearch.h"
#include "shardonnay/strategy/StateEvaluator.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace shardonnay {

namespace {

/// Uses that are weighed, and shardings that are tried.
constexpr size_t kMostUses = 16;
constexpr size_t kMostTrials = 6;
/// What it must save, of the price before: more than rounding.
constexpr double kLeastSaving = 1e-6;
/// What it must save, of the price of the copy, where users that have nothing
/// resharded are to read what is resharded for others. Less is not worth it:
/// what was one bucket of collectives may become two.
constexpr double kLeastSharedSaving = 0.1;

/// Where shardings are equally cheap, the one that is taken: what the value
/// has, how its producer leaves it, or how some user needs it.
enum class Tie { Stays, Producer, User };

/// A user of the value that is looked at, and what it does by itself.
struct User {
  int32_t op;
  int64_t leastShards;
};

class LocalSearch {
public:
  LocalSearch(StrategyState &state, SearchMemo &memo);

  /// The results of `op`, if something may be resharded around it.
  void visitResults(int32_t op, Tie tie);
  void visit(int32_t value, Tie tie);
  /// What was saved so far.
  double getSaved() const { return saved; }
  bool foundReshards() const { return hasReshards; }

private:
  using Shardings = SmallVector<int32_t, 8>;

  /// If the op has something resharded, it and those that make its operands are
  /// open.
  void openAround(int32_t op);
  /// Fills in `users`, `fixedNeeds` and `producer`; false if nothing is
  /// resharded around the value, or not all that uses it is known.
  bool readAround(int32_t value);
  /// The op has a strategy, under which it has the tensor resharded.
  bool differsAt(int32_t op, int64_t tensor) const;
  bool isResharded(int32_t value) const;
  /// A dim of the operand has to be whole: that it is gathered is said at the
  /// op, so there it has to stand.
  bool needsWhole(const StrategyUse &use) const;
  /// How `producer`, which has a strategy, leaves the value.
  int32_t leftByProducer(int32_t value) const;
  /// The place of the op among `users`; behind all if it is none.
  size_t userNumber(int32_t op) const {
    return find_if(users, [&](const User &user) { return user.op == op; }) -
           users.begin();
  }
  Shardings collectTrials(int32_t value) const;
  /// `value` sharded by one more axis.
  void appendFinerShardings(int32_t value, Shardings &trials) const;
  /// A byte of `value`.
  double memoryPrice(int32_t value) const {
    return graph.memoryPrice(graph.value(value).producer);
  }
  /// How others than the producer have its operand resharded.
  Shardings neededByOthers(int32_t operand) const;
  /// What the producer would have resharded with `strategy` and others have
  /// anyway.
  double priceOthersPay(const OpStrategy &strategy) const;
  /// The price of the users where they see the value in `sharding`, what they
  /// reshard alike counted once; nothing if one has no plan or repeats work.
  std::optional<double> priceOfUsers(int32_t value, int32_t sharding);
  std::optional<double> priceOfUser(const User &user,
                                    const OpStrategy &strategy);
  /// The price of the producer, without what others pay, the memory and the
  /// fixed needs where the value has `sharding`; nothing if one has no plan or
  /// the producer repeats work.
  std::optional<double> priceOfMaking(int32_t value, int32_t sharding);
  /// What the users pay together more than once, by their strategies where
  /// they see the value in `sharding`; those not in `readers` do not count.
  double sharedPrice(int32_t value, int32_t sharding,
                     const SmallBitVector *readers = nullptr);

  Improvement findSharding(int32_t value, Tie tie);
  void moveValue(int32_t value, const Improvement &improvement);
  /// -1 if `tie` prefers none.
  int32_t preferredBy(int32_t value, Tie tie) const;
  void addSharedCopy(int32_t value);
  struct CopyTrial;
  std::optional<CopyTrial> tryCopy(int32_t value, int32_t sharding,
                                   ArrayRef<double> alone);
  SearchMemo::Key makeKey(int32_t value, Tie tie) const;
  void appendStrategy(SearchMemo::Key &key, int32_t op) const;

  StrategyState &state;
  const StrategyGraph &graph;
  OpStrategies &table;
  SearchMemo &memo;

  /// Around the value that is looked at: the op that makes it (-1: none that
  /// may make it otherwise), its users, and how others need it.
  int32_t producer = -1;
  SmallVector<User, 8> users;
  Shardings fixedNeeds;
  /// By the producer's operands: see neededByOthers.
  SmallVector<Shardings, 2> othersNeeds;

  /// The ops around whose results something may be resharded: most agree with
  /// all around them.
  BitVector open;
  bool hasReshards = false;
  double saved = 0;
};

LocalSearch::LocalSearch(StrategyState &state, SearchMemo &memo)
    : state(state), graph(state.getGraph()), table(state.getTable()),
      memo(memo), open(graph.numOps()) {
  for (int32_t op = 0, e = graph.numOps(); op < e; ++op) {
    openAround(op);
    if (graph.memoryPrice(op) != 0)
      open.set(op);
  }
}

void LocalSearch::openAround(int32_t op) {
  const OpStrategy *strategy = state.strategyOf(op);
  if (!strategy || strategy->differs.none())
    return;
  open.set(op);
  for (int32_t operand : state.operandsOf(op))
    if (int32_t source = state.sourceOf(operand); source == operand)
      if (int32_t other = graph.value(source).producer; other >= 0)
        open.set(other);
}

bool LocalSearch::needsWhole(const StrategyUse &use) const {
  const FactorRule &rule = *table.kind(state.strategyOf(use.op)->kind).rule;
  return any_of(rule.operands[use.operand].dims,
                [&](const DimFactors &factors) {
                  return any_of(factors, [&](int32_t factor) {
                    return !canBeSharded(rule.factors[factor]);
                  });
                });
}

bool LocalSearch::differsAt(int32_t op, int64_t tensor) const {
  const OpStrategy *strategy = state.strategyOf(op);
  return strategy && strategy->differs.test(tensor);
}

bool LocalSearch::isResharded(int32_t value) const {
  const StrategyValue &known = graph.value(value);
  if (known.producer >= 0 &&
      differsAt(known.producer,
                graph.operandsOf(known.producer).size() + known.result))
    return true;
  bool resharded = false;
  state.forEachUse(value, [&](const StrategyUse &use) {
    resharded |= use.isFixed() ? use.need != state.shardingOf(value)
                               : differsAt(use.op, use.operand);
  });
  return resharded;
}

bool LocalSearch::readAround(int32_t value) {
  producer = -1;
  users.clear();
  fixedNeeds.clear();
  if (memoryPrice(value) == 0 && !isResharded(value))
    return false;
  size_t uses = 0;
  bool isKnown = true;
  state.forEachUse(value, [&](const StrategyUse &use) {
    ++uses;
    if (const OpStrategy *strategy = state.strategyOf(use.op)) {
      isKnown &= !needsWhole(use);
      if (userNumber(use.op) == users.size())
        users.push_back({use.op, strategy->shards});
    } else if (use.isFixed()) {
      fixedNeeds.push_back(use.need);
    } else {
      isKnown = false;
    }
  });
  if (!isKnown || uses > kMostUses || users.empty())
    return false;
  if (int32_t op = graph.value(value).producer; state.strategyOf(op))
    producer = op;
  return true;
}

LocalSearch::Shardings LocalSearch::neededByOthers(int32_t operand) const {
  Shardings needs;
  if (state.sourceOf(operand) != operand ||
      graph.usesOf(operand).size() > kMostUses ||
      graph.value(operand).tensor < 0)
    return needs;
  auto add = [&](int32_t need) {
    if (need >= 0 && need != state.shardingOf(operand) &&
        !is_contained(needs, need))
      needs.push_back(need);
  };
  state.forEachUse(operand, [&](const StrategyUse &use) {
    if (use.isFixed())
      add(use.need);
    else if (use.op != producer && differsAt(use.op, use.operand))
      add(state.strategyOf(use.op)->needed[use.operand]);
  });
  return needs;
}

double LocalSearch::priceOthersPay(const OpStrategy &strategy) const {
  double sum = 0;
  for (auto [i, operand] : enumerate(state.operandsOf(producer)))
    if (strategy.differs.test(i) &&
        is_contained(othersNeeds[i], strategy.needed[i]))
      sum += table
                 .reshardPrice(graph.value(operand).tensor,
                               state.shardingOf(operand), strategy.needed[i])
                 .value_or(0);
  return sum;
}

int32_t LocalSearch::leftByProducer(int32_t value) const {
  return state.strategyOf(producer)
      ->needed[graph.operandsOf(producer).size() + graph.value(value).result];
}

LocalSearch::Shardings LocalSearch::collectTrials(int32_t value) const {
  Shardings trials;
  int32_t present = state.shardingOf(value);
  auto add = [&](TensorSharding sharding) {
    sharding.unreduced = AxisList();
    sharding.kind = ReductionKind::Sum;
    int32_t number = table.add(sharding);
    if (number != present && trials.size() < kMostTrials &&
        !is_contained(trials, number))
      trials.push_back(number);
  };
  if (producer >= 0)
    add(table.sharding(leftByProducer(value)));
  state.forEachUse(value, [&](const StrategyUse &use) {
    if (const OpStrategy *strategy = state.strategyOf(use.op))
      add(table.sharding(strategy->needed[use.operand]));
  });
  add(TensorSharding::fullyClosed(table.sharding(present).dims.size()));
  return trials;
}

void LocalSearch::appendFinerShardings(int32_t value, Shardings &trials) const {
  const TensorSharding present = state.readSharding(value);
  const TensorKind &tensor = table.tensor(graph.value(value).tensor);
  for (AxisRef axis : table.getMesh().allAxes().subtract(graph.manualAxes()))
    for (auto [dim, size] : enumerate(tensor.shape)) {
      TensorSharding finer = present;
      AxisList &axes = finer.dims[dim].axes;
      axes.append(axis);
      if (axis.size > 1 && !present.uses(axis) && size > 0 &&
          size % axes.numShards() == 0)
        trials.push_back(table.add(finer));
    }
}

std::optional<double> LocalSearch::priceOfUser(const User &user,
                                               const OpStrategy &strategy) {
  if (strategy.shards < user.leastShards)
    return std::nullopt;
  return table.price(strategy);
}

double LocalSearch::sharedPrice(int32_t value, int32_t sharding,
                                const SmallBitVector *readers) {
  double sum = 0;
  Shardings paid;
  int32_t tensor = graph.value(value).tensor;
  state.forEachUse(value, [&](const StrategyUse &use) {
    if (use.op < 0 || !state.strategyOf(use.op))
      return;
    if (readers && !readers->test(userNumber(use.op)))
      return;
    const OpStrategy &strategy = state.strategyIf(use.op, value, sharding);
    if (!strategy.differs.test(use.operand))
      return;
    int32_t need = strategy.needed[use.operand];
    if (is_contained(paid, need))
      sum += table.reshardPrice(tensor, sharding, need).value_or(0);
    else
      paid.push_back(need);
  });
  return sum;
}

std::optional<double> LocalSearch::priceOfUsers(int32_t value,
                                                int32_t sharding) {
  double sum = 0;
  for (const User &user : users) {
    std::optional<double> price =
        priceOfUser(user, state.strategyIf(user.op, value, sharding));
    if (!price)
      return std::nullopt;
    sum += *price;
  }
  return sum - sharedPrice(value, sharding);
}

std::optional<double> LocalSearch::priceOfMaking(int32_t value,
                                                 int32_t sharding) {
  const OpStrategy &strategy = state.strategyIf(producer, value, sharding);
  if (strategy.shards < state.strategyOf(producer)->shards)
    return std::nullopt;
  std::optional<double> sum = table.price(strategy);
  if (!sum)
    return std::nullopt;
  *sum -= priceOthersPay(strategy);
  int32_t tensor = graph.value(value).tensor;
  if (double price = memoryPrice(value))
    *sum += price * localBytes(table.tensor(tensor), table.sharding(sharding));
  Shardings paid;
  for (int32_t need : fixedNeeds) {
    if (is_contained(paid, need))
      continue;
    paid.push_back(need);
    std::optional<double> price = table.reshardPrice(tensor, sharding, need);
    if (!price)
      return std::nullopt;
    *sum += *price;
  }
  return sum;
}

/// The cheapest sharding for the value itself.
Improvement LocalSearch::findSharding(int32_t value, Tie tie) {
  Improvement improvement;
  int32_t present = state.shardingOf(value), best = present;
  std::optional<double> made = priceOfMaking(value, present),
                        least = priceOfUsers(value, present);
  if (!least || !made)
    return improvement;
  *least += *made;
  double before = *least;
  Shardings trials = collectTrials(value);
  if (memoryPrice(value) > 0)
    appendFinerShardings(value, trials);
  int32_t preferred = preferredBy(value, tie);
  for (int32_t trial : trials) {
    bool mayBeAsGood = best == present && trial == preferred;
    double limit =
        mayBeAsGood ? before * (1 + kLeastSaving) : *least * (1 - kLeastSaving);
    made = priceOfMaking(value, trial);
    if (!made || *made > limit)
      continue;
    std::optional<double> price = priceOfUsers(value, trial);
    if (!price)
      continue;
    *price += *made;
    if (mayBeAsGood ? *price <= limit : *price < limit) {
      least = price;
      best = trial;
    }
  }
  if (best != present) {
    improvement.sharding = best;
    bool isTie = *least >= before * (1 - kLeastSaving);
    improvement.saved = isTie ? 0 : before - *least;
  }
  return improvement;
}

void LocalSearch::moveValue(int32_t value, const Improvement &improvement) {
  if (improvement.sharding < 0)
    return;
  saved += improvement.saved;
  state.change(value, improvement.sharding,
               [&](int32_t op) { openAround(op); });
}

int32_t LocalSearch::preferredBy(int32_t value, Tie tie) const {
  if (tie == Tie::Producer)
    return leftByProducer(value);
  int32_t preferred = -1;
  if (tie == Tie::User)
    state.forEachUse(value, [&](const StrategyUse &use) {
      const OpStrategy *strategy = state.strategyOf(use.op);
      if (preferred < 0 && strategy && strategy->differs.test(use.operand))
        preferred = strategy->needed[use.operand];
    });
  return preferred;
}

struct LocalSearch::CopyTrial {
  int32_t sharding;
  /// The users that are cheaper for reading the copy.
  SmallBitVector readers;
  double price;
  /// The price of the reshard; none if a fixed use has it anyway.
  double copying;
};

/// A copy in `sharding`, read by those users that are then cheaper than
/// `alone`, which each pays by itself; nothing if it has fewer than two
/// readers, the fixed use too.
std::optional<LocalSearch::CopyTrial>
LocalSearch::tryCopy(int32_t value, int32_t sharding, ArrayRef<double> alone) {
  int32_t present = state.shardingOf(value);
  bool isFixed = is_contained(fixedNeeds, sharding);
  std::optional<double> copying = 0;
  if (!isFixed)
    copying = table.reshardPrice(graph.value(value).tensor, present, sharding);
  if (!copying)
    return std::nullopt;
  CopyTrial trial = {sharding, SmallBitVector(users.size()), 0, *copying};
  double sum = 0;
  for (auto [i, user] : enumerate(users)) {
    std::optional<double> price =
        priceOfUser(user, state.strategyIf(user.op, value, sharding));
    if (price && *price < alone[i] * (1 - kLeastSaving))
      trial.readers.set(i);
    else
      price = priceOfUser(user, *state.strategyOf(user.op));
    if (!price)
      return std::nullopt;
    sum += *price;
  }
  if (trial.readers.count() + isFixed < 2)
    return std::nullopt;
  SmallBitVector others = trial.readers;
  others.flip();
  trial.price = sum - sharedPrice(value, present, &others) + *copying -
                sharedPrice(value, sharding, &trial.readers);
  return trial;
}

/// Tries to let those users read a copy that are cheaper for it: one that would
/// not have the value resharded for itself may take what is resharded for
/// others anyway.
void LocalSearch::addSharedCopy(int32_t value) {
  int32_t present = state.shardingOf(value);
  std::optional<double> least = priceOfUsers(value, present);
  if (!least || users.size() + fixedNeeds.size() < 2)
    return;
  double before = *least;
  SmallVector<double, 8> alone;
  SmallBitVector movers(users.size());
  for (auto [i, user] : enumerate(users))
    alone.push_back(
        priceOfUser(user, *state.strategyOf(user.op)).value_or(HUGE_VAL));
  state.forEachUse(value, [&](const StrategyUse &use) {
    if (differsAt(use.op, use.operand))
      movers.set(userNumber(use.op));
  });
  std::optional<CopyTrial> best;
  Shardings trials = collectTrials(value);
  for (int32_t need : fixedNeeds)
    if (need != present && !is_contained(trials, need))
      trials.push_back(need);
  for (int32_t sharding : trials) {
    std::optional<CopyTrial> trial = tryCopy(value, sharding, alone);
    if (!trial)
      continue;
    double enough = *least * kLeastSaving;
    // Users that have nothing resharded read it too.
    if (trial->readers.test(movers))
      enough = std::max(enough, trial->copying * kLeastSharedSaving);
    if (trial->price < *least - enough) {
      least = trial->price;
      best = std::move(trial);
    }
  }
  if (!best)
    return;
  saved += before - *least;
  int32_t copy = state.addCopy(value, best->sharding);
  for (unsigned i : best->readers.set_bits()) {
    state.redirect(users[i].op, value, copy);
    openAround(users[i].op);
  }
}

void LocalSearch::visitResults(int32_t op, Tie tie) {
  if (open.test(op))
    for (int32_t i = 0; i < graph.numResults(op); ++i)
      visit(graph.firstResult(op) + i, tie);
}

void LocalSearch::visit(int32_t value, Tie tie) {
  const StrategyValue &known = graph.value(value);
  if (known.tensor < 0 || known.constant || !state.isUsed(value) ||
      !readAround(value) || !state.readSharding(value).unreduced.empty())
    return;
  hasReshards = true;
  othersNeeds.clear();
  if (producer >= 0)
    for (int32_t operand : state.operandsOf(producer))
      othersNeeds.push_back(neededByOthers(operand));
  auto [improvement, isNew] = memo.find(makeKey(value, tie));
  if (improvement.isFruitless)
    return;
  double savedBefore = saved;
  if (producer >= 0) {
    if (isNew)
      improvement = findSharding(value, tie);
    moveValue(value, improvement);
  }
  if (readAround(value))
    addSharedCopy(value);
  improvement.isFruitless = improvement.sharding < 0 && saved == savedBefore;
}

/// An op's strategy stands for its kind and for how its tensors are sharded.
/// Only an op that may pick positions has another kind where its result is
/// sharded otherwise.
void LocalSearch::appendStrategy(SearchMemo::Key &key, int32_t op) const {
  const OpStrategy *strategy = state.strategyOf(op);
  key.push_back(llvm::bit_cast<uintptr_t>(strategy));
  if (strategy && graph.classOf(op).pickingKind >= 0)
    key.push_back(graph.classOf(op).pickingKind);
}

SearchMemo::Key LocalSearch::makeKey(int32_t value, Tie tie) const {
  const StrategyValue &known = graph.value(value);
  SearchMemo::Key key = {static_cast<uint64_t>(known.tensor),
                         static_cast<uint64_t>(state.shardingOf(value)),
                         static_cast<uint64_t>(tie),
                         llvm::bit_cast<uint64_t>(memoryPrice(value)),
                         fixedNeeds.size()};
  append_range(key, fixedNeeds);
  appendStrategy(key, producer);
  if (producer >= 0)
    key.push_back(known.result);
  for (const Shardings &needs : othersNeeds) {
    key.push_back(needs.size());
    append_range(key, needs);
  }
  state.forEachUse(value, [&](const StrategyUse &use) {
    if (!state.strategyOf(use.op))
      return;
    appendStrategy(key, use.op);
    key.push_back(use.operand);
  });
  return key;
}

} // namespace

static void sweepBack(LocalSearch &search, const StrategyGraph &graph,
                      Tie tie) {
  for (int32_t op = graph.numOps(); op-- > 0;)
    search.visitResults(op, tie);
}

void searchLocally(StrategyState &state, ArrayRef<int32_t> arguments,
                   SearchMemo &memo) {
  const StrategyGraph &graph = state.getGraph();
  LocalSearch search(state, memo);
  // What is cheaper around every value that moved may be more expensive for the
  // block: an op counts as its own what others have resharded alike further on.
  CheapestState cheapest(state);
  double saved = 0;
  auto keepIfCheaper = [&] {
    if (search.getSaved() > saved)
      cheapest.offer(state);
    saved = search.getSaved();
  };
  sweepBack(search, graph, Tie::Stays);
  for (int32_t argument : arguments)
    search.visit(argument, Tie::Stays);
  if (!search.foundReshards())
    return;
  keepIfCheaper();
  for (int32_t op = 0, e = graph.numOps(); op < e; ++op)
    search.visitResults(op, Tie::Producer);
  sweepBack(search, graph, Tie::User);
  keepIfCheaper();
  state = cheapest.get();
}

} // namespace shardonnay
