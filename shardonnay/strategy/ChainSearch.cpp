//===- ChainSearch.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each operand of a contraction that has operands resharded (`visit`), and
// each sharding that it could be resharded to (`collectSeeds`), and for each
// result that is resharded behind or for its users (`visitResult`):
//   1. `tryChain`: the value has that sharding besides its own; `tryResults`:
//      it is sharded as its producer leaves it; `tryUpstream`: its producer
//      leaves it as it is wanted, and asks the same of what it reads
//      (`moveUpstream`); or its users take it as it is (`tryChain`).
//   2. `follow`: each user takes the cheapest strategy (`findStrategy`), its
//      results are sharded as it leaves them (`moveResults`), their users
//      follow.
//   3. `end`: the block is priced; what is not cheaper is taken back.
// Again, if any was kept.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/ChainSearch.h"
#include "shardonnay/strategy/StateEvaluator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/bit.h"
#include <set>
#include <unordered_set>

using namespace llvm;

namespace shardonnay {

namespace {

class ChainSearch {
public:
  explicit ChainSearch(StrategyState &state)
      : state(state), before(state), graph(state.getGraph()),
        table(state.getTable()) {}

  /// From an operand of a contraction; true if a chain is kept.
  bool visit(int32_t value);
  /// From a result that its producer, or one of its users, has resharded.
  bool visitResult(int32_t value);

private:
  using Shardings = SmallVector<int32_t, 4>;
  using Key = SmallVector<uint64_t, 16>;
  struct Hash {
    size_t operator()(const Key &key) const { return hash_combine_range(key); }
  };

  /// To reshard the value so takes kLeastResultShare of the price of the block.
  bool isExpensive(int32_t value, int32_t from, int32_t to);
  /// Some contraction that reads the value has operands resharded, or computes
  /// an expensive sum.
  bool isAtReshard(int32_t value);
  /// What the op pays for its operands in a state.
  double priceOfOperands(int32_t op, const StrategyState &in);
  /// The op, a contraction with batch dims, makes a partial sum that is
  /// expensive to reduce.
  bool makesExpensiveSum(int32_t op);
  Shardings collectSeeds(int32_t value);
  /// How a contraction takes an operand if it has the axes that it reduces over
  /// at a factor of all its tensors instead.
  Shardings collectBatched(const StrategyUse &use);
  Key makeKey(int32_t value, int32_t sharding, bool withProducer) const;

  bool tryChain(int32_t value, int32_t sharding);
  /// The values that the op makes are sharded as it leaves them.
  bool tryResults(int32_t op);
  /// The op that makes `value` leaves it in `sharding`, and asks the same of
  /// what it reads.
  bool tryUpstream(int32_t value, int32_t sharding);
  /// Of the state as it is without a chain; made when it is first asked.
  StateEvaluator &prices();
  /// Begins a chain; `end` prices what came of it, and keeps it if it is
  /// cheaper.
  void begin(int32_t value, int32_t sharding);
  bool end(bool maySendMore = true);
  /// Some op that the chain changes leaves a partial sum, with it or without.
  bool changesSums() const;
  void enqueueUsers(int32_t value);
  /// Its users follow.
  void moveValue(int32_t value, int32_t sharding);
  void moveUpstream(int32_t last);
  /// The strategy that leaves the op's result as it is wanted, whatever the
  /// operands are; null if there is none, or it repeats work.
  const OpStrategy *findProducing(int32_t op);
  void follow();
  /// The strategy of `op` in the chain; null if it is the one that it has.
  const OpStrategy *findStrategy(int32_t op);
  /// Other strategies, for operands as they are or as others have them
  /// resharded, the results in any sharding.
  SmallVector<const OpStrategy *, 4> collectStrategies(int32_t op);
  /// What the op would pay, besides what others pay.
  double priceOf(int32_t op, const OpStrategy &strategy);
  bool readsSeed(int32_t op) const;
  /// A result that its producer leaves in `left` is resharded from it, and need
  /// not be.
  bool mayStay(int32_t result, int32_t left) const;
  void moveResults(int32_t op);
  /// How others than `reader` have the value resharded.
  Shardings othersHave(int32_t value, int32_t reader) const;
  void updatePrice();
  StrategyState &state;
  /// As `state` is without the chain that is tried.
  StrategyState before;
  const StrategyGraph &graph;
  OpStrategies &table;
  /// There once it is needed: most blocks try no chain.
  std::optional<StateEvaluator> evaluator;
  /// Seeds that were of no use since a chain was kept; programs repeat
  /// themselves.
  std::unordered_set<Key, Hash> fruitless;

  /// Of the chain that is tried: where it starts, the ops to look at, in the
  /// order of the block, and those with another strategy.
  int32_t seed = -1, seedSharding = -1;
  std::set<int32_t> worklist;
  SmallSetVector<int32_t, 32> changed;
  /// Those that leave their results as the ops behind them need it.
  SmallDenseSet<int32_t, 16> producing;
  /// Whether a value that others have as an op upstream needs it stays as it
  /// is; and whether there was one.
  bool readsCopies = false, metCopy = false;
};

double ChainSearch::priceOfOperands(int32_t op, const StrategyState &in) {
  const OpStrategy &strategy = *in.strategyOf(op);
  double sum = 0;
  for (auto [i, operand] : enumerate(graph.operandsOf(op))) {
    int32_t needed = strategy.needed[i], present = in.shardingOf(operand);
    if (needed >= 0 && needed != present && !graph.classOf(op).free.test(i))
      sum += table.reshardPrice(graph.value(operand).tensor, present, needed)
                 .value_or(0);
  }
  return sum;
}

bool ChainSearch::isAtReshard(int32_t value) {
  return any_of(graph.usesOf(value), [&](const StrategyUse &use) {
    const OpStrategy *strategy = state.strategyOf(use.op);
    return strategy && table.kind(strategy->kind).contraction &&
           (priceOfOperands(use.op, before) >
                kLeastReshardShare * table.ownPrice(*strategy) ||
            makesExpensiveSum(use.op));
  });
}

static bool isInAllTensors(const FactorRule &rule, int32_t factor) {
  auto has = [&](const TensorMapping &tensor) {
    return tensor.dimOf(factor) >= 0;
  };
  return all_of(rule.operands, has) && all_of(rule.results, has);
}

static bool hasBatchFactor(const FactorRule &rule) {
  return any_of(seq<int32_t>(rule.factors.size()),
                [&](int32_t f) { return isInAllTensors(rule, f); });
}

bool ChainSearch::makesExpensiveSum(int32_t op) {
  const OpStrategy &strategy = *state.strategyOf(op);
  int32_t left = strategy.needed.back(), result = graph.firstResult(op),
          present = state.shardingOf(result);
  return !table.sharding(left).unreduced.empty() &&
         table.sharding(present).unreduced.empty() &&
         hasBatchFactor(*table.kind(strategy.kind).rule) &&
         isExpensive(result, left, present);
}

ChainSearch::Shardings ChainSearch::collectBatched(const StrategyUse &use) {
  const OpStrategy &strategy = *state.strategyOf(use.op);
  const FactorRule &rule = *table.kind(strategy.kind).rule;
  FactorStrategy others = *strategy.factors;
  AxisList reduced;
  for (auto [f, axes] : enumerate(others))
    if (rule.reducesOver(f)) {
      reduced.append(axes);
      axes = AxisList();
    }
  Shardings found;
  for (int32_t f = 0, e = rule.factors.size(); f < e; ++f) {
    FactorStrategy batched = others;
    batched[f].append(reduced);
    if (isInAllTensors(rule, f) && isLawful(batched, rule) &&
        rule.factors[f].size % batched[f].numShards() == 0)
      found.push_back(table.add(shardingUnder(batched, rule, use.operand)));
  }
  return found;
}

/// The ways that users have it, its own without one of the axes each, and those
/// in which sums need not be reduced.
ChainSearch::Shardings ChainSearch::collectSeeds(int32_t value) {
  Shardings seeds;
  auto add = [&](int32_t sharding) {
    if (sharding != state.shardingOf(value) &&
        table.sharding(sharding).unreduced.empty() &&
        !is_contained(seeds, sharding))
      seeds.push_back(sharding);
  };
  for (const StrategyUse &use : graph.usesOf(value))
    if (const OpStrategy *strategy = state.strategyOf(use.op))
      add(strategy->needed[use.operand]);
  const TensorSharding present = state.readSharding(value);
  for (auto [i, dim] : enumerate(present.dims))
    for (AxisRef axis : dim.axes) {
      TensorSharding without = present;
      without.dims[i].axes = dim.axes.subtract(AxisList({axis}));
      add(table.add(without));
    }
  for (const StrategyUse &use : graph.usesOf(value))
    if (const OpStrategy *strategy = state.strategyOf(use.op);
        strategy && table.kind(strategy->kind).contraction &&
        makesExpensiveSum(use.op))
      for (int32_t sharding : collectBatched(use))
        add(sharding);
  return seeds;
}

void ChainSearch::enqueueUsers(int32_t value) {
  for (const StrategyUse &use : graph.usesOf(value))
    if (state.strategyOf(use.op))
      worklist.insert(use.op);
}

ChainSearch::Shardings ChainSearch::othersHave(int32_t value,
                                               int32_t reader) const {
  Shardings found;
  auto add = [&](int32_t sharding) {
    if (sharding >= 0 && sharding != state.shardingOf(value) &&
        !is_contained(found, sharding))
      found.push_back(sharding);
  };
  if (value == seed)
    add(seedSharding);
  for (const StrategyState::Copy &copy : state.copiesOf(value))
    add(copy.sharding);
  state.forEachUse(value, [&](const StrategyUse &use) {
    // What the chain has still to come to may not need it so any more.
    if (const OpStrategy *strategy = state.strategyOf(use.op)) {
      if (use.op != reader && !worklist.count(use.op))
        add(strategy->needed[use.operand]);
    } else {
      add(use.need);
    }
  });
  return found;
}

bool ChainSearch::readsSeed(int32_t op) const {
  return is_contained(graph.operandsOf(op), seed);
}

SmallVector<const OpStrategy *, 4> ChainSearch::collectStrategies(int32_t op) {
  const OpStrategy &present = *state.strategyOf(op);
  ArrayRef<int32_t> sources = graph.operandsOf(op);
  Shardings around;
  for (int32_t source : sources)
    around.push_back(state.shardingOf(source));
  for (int32_t i = 0; i < graph.numResults(op); ++i)
    around.push_back(state.shardingOf(graph.firstResult(op) + i));
  SmallBitVector freeResults = graph.classOf(op).free;
  freeResults.set(sources.size(), freeResults.size());
  SmallVector<const OpStrategy *, 4> found = {
      &table.solve(present.kind, around, freeResults)};
  if (!table.kind(present.kind).contraction)
    return found;
  found.push_back(&table.solve(present.kind, around, graph.classOf(op).free));
  for (auto [i, source] : enumerate(sources)) {
    if (graph.value(source).tensor < 0)
      continue;
    int32_t own = around[i];
    for (int32_t other : othersHave(source, op)) {
      around[i] = other;
      found.push_back(&table.solve(present.kind, around, freeResults));
    }
    around[i] = own;
  }
  return found;
}

double ChainSearch::priceOf(int32_t op, const OpStrategy &strategy) {
  const OpKind &kind = table.kind(strategy.kind);
  ArrayRef<int32_t> sources = graph.operandsOf(op);
  double sum = table.ownPrice(strategy);
  for (auto [i, tensor] : enumerate(kind.tensors)) {
    if (tensor < 0 || graph.classOf(op).free.test(i))
      continue;
    int32_t needed = strategy.needed[i], from = needed, to = needed;
    if (i < sources.size()) {
      from = state.shardingOf(sources[i]);
      if (is_contained(othersHave(sources[i], op), needed))
        continue;
    } else if (!table.sharding(needed).unreduced.empty()) {
      to = state.shardingOf(graph.firstResult(op) + i - sources.size());
    }
    if (from != to)
      sum += table.reshardPrice(tensor, from, to).value_or(HUGE_VAL);
  }
  return sum;
}

const OpStrategy *ChainSearch::findStrategy(int32_t op) {
  const OpStrategy &present = *state.strategyOf(op);
  const OpStrategy *best = nullptr;
  bool mustTakeSeed = readsSeed(op);
  // What takes its operands as they are stays.
  if (mustTakeSeed && table.kind(present.kind).contraction &&
      priceOfOperands(op, state) == 0)
    return nullptr;
  double least = HUGE_VAL;
  SmallVector<const OpStrategy *, 4> strategies = {&present};
  append_range(strategies, collectStrategies(op));
  // No op may repeat work for a chain.
  int64_t leastShards = before.strategyOf(op)->shards;
  for (const OpStrategy *strategy : strategies) {
    if (strategy->shards < leastShards)
      continue;
    if (mustTakeSeed &&
        !any_of(enumerate(graph.operandsOf(op)), [&](auto operand) {
          return operand.value() == seed &&
                 strategy->needed[operand.index()] == seedSharding;
        }))
      continue;
    if (double price = priceOf(op, *strategy); price < least) {
      least = price;
      best = strategy;
    }
  }
  return best;
}

bool ChainSearch::mayStay(int32_t result, int32_t left) const {
  return left >= 0 && left != state.shardingOf(result) &&
         table.sharding(left).unreduced.empty() && state.mayMove(result);
}

void ChainSearch::moveValue(int32_t value, int32_t sharding) {
  state.change(value, sharding,
               [&](int32_t around) { changed.insert(around); });
  enqueueUsers(value);
}

void ChainSearch::moveResults(int32_t op) {
  const OpStrategy &strategy = *state.strategyOf(op);
  size_t numOperands = graph.operandsOf(op).size();
  Shardings needed(strategy.needed);
  for (int32_t i = 0; i < graph.numResults(op); ++i) {
    int32_t result = graph.firstResult(op) + i;
    int32_t sharding = needed[numOperands + i];
    if (!mayStay(result, sharding))
      continue;
    moveValue(result, sharding);
    state.takeStrategy(op, strategy.kind, *strategy.factors);
  }
}

void ChainSearch::follow() {
  for (int ops = 0; ops < kMostChainOps && !worklist.empty(); ++ops) {
    int32_t op = *worklist.begin();
    worklist.erase(worklist.begin());
    const OpStrategy *strategy =
        producing.contains(op) ? nullptr : findStrategy(op);
    if (!strategy)
      continue;
    SmallVector<int32_t, 4> operands(state.operandsOf(op));
    for (int32_t operand : operands)
      if (int32_t source = state.sourceOf(operand); source != operand)
        state.redirect(op, operand, source);
    if (operands != graph.operandsOf(op) || strategy != state.strategyOf(op)) {
      state.takeStrategy(op, strategy->kind, *strategy->factors);
      changed.insert(op);
    }
    moveResults(op);
  }
}

void ChainSearch::updatePrice() {
  for (int32_t op : changed)
    evaluator->updateAround(op);
}

StateEvaluator &ChainSearch::prices() {
  if (!evaluator)
    evaluator.emplace(state);
  return *evaluator;
}

void ChainSearch::begin(int32_t value, int32_t sharding) {
  prices(); // Of the state before anything is changed.
  seed = value;
  seedSharding = sharding;
  worklist.clear();
  changed.clear();
  producing.clear();
}

bool ChainSearch::changesSums() const {
  auto leavesSum = [&](const OpStrategy *strategy, int32_t op) {
    return strategy && any_of(ArrayRef(strategy->needed)
                                  .drop_front(graph.operandsOf(op).size()),
                              [&](int32_t left) {
                                return left >= 0 &&
                                       !table.sharding(left).unreduced.empty();
                              });
  };
  return any_of(changed, [&](int32_t op) {
    return leavesSum(state.strategyOf(op), op) ||
           leavesSum(before.strategyOf(op), op);
  });
}

bool ChainSearch::end(bool maySendMore) {
  if (changed.empty())
    return false;
  StateCost costBefore = evaluator->get();
  updatePrice();
  StateCost cost = evaluator->get();
  double mostReshards = costBefore.reshards;
  if (graph.getTrips() > 1 && changesSums())
    mostReshards *= 1 - kLeastSavingOfSums;
  bool isCheaper = cost.price < costBefore.price * (1 - kLeastChainSaving) &&
                   cost.reshards <= mostReshards &&
                   (maySendMore || cost.bytes <= costBefore.bytes);
  for (int32_t op : changed)
    isCheaper ? before.assign(op, state) : state.assign(op, before);
  if (isCheaper)
    fruitless.clear();
  else
    updatePrice();
  return isCheaper;
}

bool ChainSearch::tryChain(int32_t value, int32_t sharding) {
  begin(value, sharding);
  enqueueUsers(value);
  follow();
  return end();
}

const OpStrategy *ChainSearch::findProducing(int32_t op) {
  const OpStrategy &present = *state.strategyOf(op);
  if (table.kind(present.kind).contraction || graph.numResults(op) != 1)
    return nullptr;
  int32_t wanted = state.shardingOf(graph.firstResult(op));
  Shardings around;
  for (int32_t source : graph.operandsOf(op))
    around.push_back(state.shardingOf(source));
  around.push_back(wanted);
  SmallBitVector freeOperands = graph.classOf(op).free;
  freeOperands.set(0, graph.operandsOf(op).size());
  const OpStrategy &found = table.solve(present.kind, around, freeOperands);
  return found.needed.back() == wanted &&
                 found.shards >= before.strategyOf(op)->shards
             ? &found
             : nullptr;
}

/// From the last op to the first: each leaves its result as the ops behind it
/// need it, and asks the same of what it reads, up to contractions and to what
/// the block is given.
void ChainSearch::moveUpstream(int32_t last) {
  std::set<int32_t> upstream = {last};
  auto ask = [&](int32_t op, int32_t value, int32_t needed) {
    int32_t producer = graph.value(value).producer;
    if (needed < 0 || needed == state.shardingOf(value) ||
        !state.strategyOf(producer) || !state.mayMove(value))
      return;
    if (is_contained(othersHave(value, op), needed)) {
      metCopy = true;
      if (readsCopies)
        return;
    }
    moveValue(value, needed);
    upstream.insert(producer);
  };
  for (int ops = 0; ops < kMostChainOps && !upstream.empty(); ++ops) {
    int32_t op = *upstream.rbegin();
    upstream.erase(op);
    const OpStrategy *strategy = findProducing(op);
    if (!strategy)
      continue;
    for (auto [i, operand] : enumerate(graph.operandsOf(op)))
      ask(op, operand, strategy->needed[i]);
    state.takeStrategy(op, strategy->kind, *strategy->factors);
    changed.insert(op);
    producing.insert(op);
  }
}

bool ChainSearch::tryUpstream(int32_t value, int32_t sharding) {
  // Where memory is short, the values on the way have prices, and were looked
  // at one by one for these.
  if (graph.hasMemoryPrices())
    return false;
  metCopy = false;
  for (bool reads : {false, true}) {
    readsCopies = reads;
    begin(-1, -1);
    if (sharding != state.shardingOf(value))
      moveValue(value, sharding);
    moveUpstream(graph.value(value).producer);
    follow();
    // What is packed into one collective afterwards costs less than its steps
    // here.
    if (end(/*maySendMore=*/false))
      return true;
    if (!metCopy)
      return false;
  }
  return false;
}

bool ChainSearch::tryResults(int32_t op) {
  begin(-1, -1);
  moveResults(op);
  follow();
  return end();
}

/// What is around the value tells whether a chain is of use, but for what it
/// meets further on.
ChainSearch::Key ChainSearch::makeKey(int32_t value, int32_t sharding,
                                      bool withProducer) const {
  Key key = {static_cast<uint64_t>(graph.value(value).tensor),
             static_cast<uint64_t>(state.shardingOf(value)),
             static_cast<uint64_t>(sharding)};
  auto add = [&](int32_t op) {
    key.push_back(llvm::bit_cast<uintptr_t>(state.strategyOf(op)));
  };
  if (withProducer)
    add(graph.value(value).producer);
  for (const StrategyUse &use : graph.usesOf(value)) {
    add(use.op);
    key.push_back(use.operand);
  }
  return key;
}

bool ChainSearch::visit(int32_t value) {
  return graph.usesOf(value).size() <= kMostSeedUses && state.mayMove(value) &&
         isAtReshard(value) &&
         any_of(collectSeeds(value), [&](int32_t sharding) {
           Key key = makeKey(value, sharding, /*withProducer=*/false);
           return fruitless.insert(std::move(key)).second &&
                  tryChain(value, sharding);
         });
}

bool ChainSearch::isExpensive(int32_t value, int32_t from, int32_t to) {
  return table.reshardPrice(graph.value(value).tensor, from, to).value_or(0) >=
         kLeastResultShare * prices().get().reshards;
}

bool ChainSearch::visitResult(int32_t value) {
  int32_t op = graph.value(value).producer;
  const OpStrategy *strategy = op < 0 ? nullptr : state.strategyOf(op);
  if (!strategy || graph.numResults(op) != 1 || !state.mayMove(value))
    return false;
  int32_t present = state.shardingOf(value), left = strategy->needed.back();
  auto isNew = [&](int32_t sharding) {
    return fruitless.insert(makeKey(value, sharding, /*withProducer=*/true))
        .second;
  };
  if (mayStay(value, left))
    return isNew(left) && isExpensive(value, left, present) &&
           (tryResults(op) || tryUpstream(value, present));
  // Or those that have it resharded take it as it is.
  return graph.usesOf(value).size() <= kMostSeedUses &&
         any_of(othersHave(value, /*reader=*/-1), [&](int32_t sharding) {
           return isNew(sharding) && isExpensive(value, present, sharding) &&
                  (tryUpstream(value, sharding) || tryChain(value, present));
         });
}

} // namespace

void searchChains(StrategyState &state) {
  ChainSearch search(state);
  // A chain may make one of use that was not before it.
  bool kept = true;
  for (int round = 0; kept && round < kMostChainRounds; ++round) {
    kept = false;
    for (int32_t value = 0, e = state.getGraph().numValues(); value < e;
         ++value) {
      kept |= search.visit(value);
      kept |= search.visitResult(value);
    }
  }
}

} // namespace shardonnay
