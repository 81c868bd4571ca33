//===- NeighborSearch.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   1. `selectOps`: the ops near one that has something resharded
//   2. `addVariables`: the variables and their alternatives
//   3. `connect`: the edges; what is fixed adds to own costs
//   4. passMessages; `apply` where the block is cheaper (StateEvaluator.h):
//      there a reshard counts once however many ops need it
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/NeighborSearch.h"
#include "shardonnay/strategy/MessagePassing.h"
#include "shardonnay/strategy/StateEvaluator.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace llvm;

namespace shardonnay {

namespace {

/// An op that is weighed.
struct WeighedOp {
  OpProblem problem;
  /// Its present strategy, and then the others.
  ArrayRef<FactorStrategy> strategies;
  /// The numbers of the shardings under each strategy, by tensor.
  std::vector<SmallVector<int32_t, 4>> needed;
  int32_t variable = -1;
};

/// A value of a weighed op that may be sharded otherwise.
struct WeighedValue {
  int32_t value;
  int32_t variable;
  SmallVector<int32_t, 4> shardings;
};

class NeighborSearch {
public:
  explicit NeighborSearch(StrategyState &state)
      : state(state), graph(state.getGraph()), table(state.getTable()),
        isWeighed(graph.numOps()) {}

  SearchCosts run();

private:
  bool hasReshards(int32_t op) const;
  bool selectOps();
  void addVariables();
  void addOp(int32_t op);
  void addValue(int32_t value);
  /// The sharding that a use outside the weighed ops needs; -1 if it takes any.
  int32_t fixedNeed(const StrategyUse &use, int32_t value);
  void connect();
  void connectTensor(int32_t op, size_t tensor, int32_t value);
  void connectFixedUses(const WeighedValue &weighed);
  double price(int32_t value, int32_t from, int32_t to);
  void apply(ArrayRef<int32_t> selected, StrategyState &changed) const;

  WeighedValue *find(int32_t value) {
    auto entry = valueNumbers.find(value);
    return entry == valueNumbers.end() ? nullptr : &values[entry->second];
  }
  bool isTensor(int32_t value) const {
    return graph.value(state.sourceOf(value)).tensor >= 0;
  }

  StrategyState &state;
  const StrategyGraph &graph;
  OpStrategies &table;
  BitVector isWeighed;
  MapVector<int32_t, WeighedOp> ops;
  std::vector<WeighedValue> values;
  DenseMap<int32_t, int32_t> valueNumbers;
  /// Programs repeat themselves: by op's strategies, kind of tensor, tensor of
  /// the op, shardings of the value.
  using MoveKey =
      std::tuple<const void *, int32_t, size_t, SmallVector<int32_t, 4>>;
  std::map<MoveKey, std::vector<double>> moves;
  CostGraph problem;
};

bool NeighborSearch::hasReshards(int32_t op) const {
  const OpStrategy *strategy = state.strategyOf(op);
  if (!strategy)
    return false;
  ArrayRef<int32_t> operands = state.operandsOf(op);
  return any_of(strategy->differs.set_bits(), [&](unsigned i) {
    return i >= operands.size() || !graph.classOf(op).free.test(i);
  });
}

/// False if there are none.
bool NeighborSearch::selectOps() {
  std::vector<int32_t> frontier;
  auto reach = [&](int32_t op, std::vector<int32_t> &next) {
    if (op < 0 || !state.strategyOf(op) || isWeighed.test(op))
      return;
    isWeighed.set(op);
    next.push_back(op);
  };
  for (int32_t op = 0, e = graph.numOps(); op < e; ++op)
    if (hasReshards(op))
      reach(op, frontier);
  bool any = !frontier.empty();
  for (int step = 0; step < kSearchRadius && !frontier.empty(); ++step) {
    std::vector<int32_t> next;
    for (int32_t op : frontier) {
      for (int32_t operand : graph.operandsOf(op))
        reach(graph.value(operand).producer, next);
      for (int32_t i = 0; i < graph.numResults(op); ++i)
        for (const StrategyUse &use : graph.usesOf(graph.firstResult(op) + i))
          reach(use.op, next);
    }
    frontier = std::move(next);
  }
  return any;
}

int32_t NeighborSearch::fixedNeed(const StrategyUse &use, int32_t value) {
  if (use.isFixed())
    return use.need;
  if (use.op >= 0 && isWeighed.test(use.op))
    return -1;
  if (const OpStrategy *strategy = state.strategyOf(use.op))
    return strategy->needed[use.operand];
  return table.add(
      TensorSharding::fullyClosed(state.readSharding(value).dims.size()));
}

void NeighborSearch::addOp(int32_t op) {
  const OpStrategy &alone = *state.strategyOf(op);
  WeighedOp &weighed = ops[op];
  weighed.problem = table.problemOf(alone);
  weighed.strategies = table.getSolver().strategies(weighed.problem);
  weighed.variable = problem.own.size();
  std::vector<double> &own = problem.own.emplace_back();
  for (const FactorStrategy &strategy : weighed.strategies) {
    own.push_back(table.getSolver().ownPrice(weighed.problem, strategy));
    SmallVector<int32_t, 4> &needed = weighed.needed.emplace_back();
    for (size_t i = 0; i < weighed.problem.tensors.size(); ++i)
      needed.push_back(
          table.add(shardingUnder(strategy, weighed.problem.rule, i)));
  }
}

void NeighborSearch::addValue(int32_t value) {
  if (!state.mayMove(value))
    return;
  WeighedValue weighed{value, static_cast<int32_t>(problem.own.size()), {}};
  auto add = [&](int32_t number) {
    TensorSharding sharding = table.sharding(number);
    sharding.unreduced = AxisList();
    sharding.kind = ReductionKind::Sum;
    number = table.add(sharding);
    if (weighed.shardings.size() < kMostStrategies &&
        !is_contained(weighed.shardings, number))
      weighed.shardings.push_back(number);
  };
  auto addAll = [&](const WeighedOp &op, size_t tensor) {
    for (const SmallVector<int32_t, 4> &needed : op.needed)
      add(needed[tensor]);
  };
  add(state.shardingOf(value));
  state.forEachUse(value, [&](const StrategyUse &use) {
    int32_t need = fixedNeed(use, value);
    add(need >= 0 ? need : ops[use.op].needed[0][use.operand]);
  });
  const StrategyValue &known = graph.value(value);
  addAll(ops[known.producer],
         graph.operandsOf(known.producer).size() + known.result);
  state.forEachUse(value, [&](const StrategyUse &use) {
    if (use.op >= 0 && isWeighed.test(use.op))
      addAll(ops[use.op], use.operand);
  });
  problem.own.emplace_back(weighed.shardings.size(), 0.0);
  valueNumbers[value] = values.size();
  values.push_back(std::move(weighed));
}

void NeighborSearch::addVariables() {
  for (unsigned op : isWeighed.set_bits())
    addOp(op);
  for (unsigned op : isWeighed.set_bits())
    for (int32_t i = 0; i < graph.numResults(op); ++i)
      addValue(graph.firstResult(op) + i);
}

double NeighborSearch::price(int32_t value, int32_t from, int32_t to) {
  if (from == to)
    return 0;
  return table.reshardPrice(graph.value(state.sourceOf(value)).tensor, from, to)
      .value_or(kForbiddenCost);
}

void NeighborSearch::connectTensor(int32_t op, size_t tensor, int32_t value) {
  const WeighedOp &weighed = ops[op];
  if (weighed.problem.tensors[tensor].free || !isTensor(value))
    return;
  bool isResult = tensor >= graph.operandsOf(op).size();
  auto move = [&](int32_t inside, int32_t outside) {
    return isResult ? price(value, inside, outside)
                    : price(value, outside, inside);
  };
  WeighedValue *moved = find(value);
  if (!moved) {
    if (isResult && !state.isUsed(value))
      return;
    for (auto [i, needed] : enumerate(weighed.needed))
      problem.own[weighed.variable][i] +=
          move(needed[tensor], state.shardingOf(value));
    return;
  }
  auto [known, isNew] =
      moves.try_emplace({weighed.strategies.data(), graph.value(value).tensor,
                         tensor, moved->shardings});
  if (isNew)
    for (const SmallVector<int32_t, 4> &needed : weighed.needed)
      for (int32_t outside : moved->shardings)
        known->second.push_back(move(needed[tensor], outside));
  problem.edges.push_back({weighed.variable, moved->variable, known->second});
}

void NeighborSearch::connectFixedUses(const WeighedValue &weighed) {
  SmallVector<int32_t, 4> seen;
  state.forEachUse(weighed.value, [&](const StrategyUse &use) {
    int32_t need = fixedNeed(use, weighed.value);
    if (need < 0 || is_contained(seen, need))
      return;
    seen.push_back(need);
    for (auto [i, sharding] : enumerate(weighed.shardings))
      problem.own[weighed.variable][i] += price(weighed.value, sharding, need);
  });
}

void NeighborSearch::connect() {
  for (unsigned op : isWeighed.set_bits()) {
    ArrayRef<int32_t> operands = state.operandsOf(op);
    for (auto [i, operand] : enumerate(operands))
      // An operand that is used twice is moved once.
      if (!is_contained(operands.take_front(i), operand))
        connectTensor(op, i, operand);
    for (int32_t i = 0; i < graph.numResults(op); ++i)
      connectTensor(op, operands.size() + i, graph.firstResult(op) + i);
  }
  for (const WeighedValue &weighed : values)
    connectFixedUses(weighed);
}

void NeighborSearch::apply(ArrayRef<int32_t> selected,
                           StrategyState &changed) const {
  // What reads a value that moves, and was not weighed, stays as it is.
  BitVector stays(graph.numOps());
  for (const WeighedValue &weighed : values)
    for (const StrategyUse &use : graph.usesOf(weighed.value))
      if (use.op >= 0 && !isWeighed.test(use.op) && state.strategyOf(use.op))
        stays.set(use.op);
  std::vector<std::pair<int32_t, const FactorStrategy *>> taken;
  for (unsigned op : stays.set_bits())
    taken.emplace_back(op, state.strategyOf(op)->factors);
  for (auto &[op, weighed] : ops)
    taken.emplace_back(op, &weighed.strategies[selected[weighed.variable]]);
  for (const WeighedValue &weighed : values)
    if (int32_t sharding = weighed.shardings[selected[weighed.variable]];
        sharding != state.shardingOf(weighed.value))
      changed.change(weighed.value, sharding);
  for (auto [op, factors] : taken)
    changed.takeStrategy(op, state.strategyOf(op)->kind, *factors);
}

SearchCosts NeighborSearch::run() {
  SearchCosts costs;
  if (!selectOps())
    return costs;
  addVariables();
  connect();
  std::vector<int32_t> start(problem.own.size());
  CostGraphSolution selection = passMessages(problem, start);
  double trips = state.getGraph().getTrips();
  costs.greedyCost = costs.cost = trips * problem.costOf(start);
  costs.bound = trips * selection.bound;
  selection.cost *= trips;
  if (selection.cost >= costs.cost * (1 - kLeastGain))
    return costs;
  StrategyState changed = state;
  apply(selection.selected, changed);
  if (StateEvaluator(changed).get().price >=
      StateEvaluator(state).get().price * (1 - kLeastGain))
    return costs;
  costs.cost = selection.cost;
  costs.moved = count_if(values, [&](const WeighedValue &weighed) {
    return selection.selected[weighed.variable] != 0;
  });
  state = std::move(changed);
  return costs;
}

} // namespace

SearchCosts searchNeighbors(StrategyState &state) {
  return NeighborSearch(state).run();
}

} // namespace shardonnay
