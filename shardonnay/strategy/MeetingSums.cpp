//===- MeetingSums.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each op that adds its operands up:
//   1. `collect`: the summands, the ops whose results come there through ops
//      that are linear in them, and through these alone.
//   2. `tryParts`, for the axes along which one is left in parts: what each of
//      the others would do if its result was wanted so (`joinedIf`).
//   3. If all can, for less than they cost now, they do.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/MeetingSums.h"

using namespace llvm;

namespace shardonnay {

namespace {

/// What it must save, in byte times: more than rounding.
constexpr double kLeastSaving = 0.5;

class SumJoiner {
public:
  explicit SumJoiner(StrategyState &state)
      : state(state), graph(state.getGraph()), table(state.getTable()) {}

  void visit(int32_t op);

private:
  bool collect(int32_t value, int reach);
  bool collectThrough(int32_t op, int reach);
  bool tryParts(const AxisList &axes);
  struct Joined;
  std::optional<Joined> joinedIf(int32_t op, const AxisList &axes);
  bool isMovedForOnlyUse(int32_t value) const;

  /// The op's only result.
  int32_t resultOf(int32_t op) const { return graph.firstResult(op); }
  /// The axes along which the op leaves its result in parts that are summands.
  const AxisList &partsOf(int32_t op) const {
    return table.sharding(state.strategyOf(op)->needed.back()).unreduced;
  }
  /// How a value is sharded that is left in parts until it is as it is now.
  TensorSharding inParts(int32_t value, const AxisList &axes) const;
  bool reducesSums(int32_t op) const;

  StrategyState &state;
  const StrategyGraph &graph;
  OpStrategies &table;
  /// Of one addition: the ops that make what is added up, and the values made
  /// on the way by ops of several operands.
  SmallVector<int32_t, 4> summands, passed;
};

bool SumJoiner::reducesSums(int32_t op) const {
  const FactorRule &rule = *table.kind(state.strategyOf(op)->kind).rule;
  for (int32_t f = 0, e = rule.factors.size(); f < e; ++f)
    if (rule.reducesOver(f) && rule.factors[f].combiner == ReductionKind::Sum)
      return true;
  return false;
}

/// `value` is made of summands for one use.
bool SumJoiner::collect(int32_t value, int reach) {
  if (state.shardingOf(value) < 0 || state.sourceOf(value) != value ||
      graph.usesOf(value).size() != 1 ||
      !state.readSharding(value).unreduced.empty())
    return false;
  int32_t op = graph.value(value).producer;
  if (!state.strategyOf(op) || graph.numResults(op) != 1)
    return false;
  if (!reducesSums(op))
    return reach > 0 && collectThrough(op, reach - 1);
  summands.push_back(op);
  return true;
}

bool SumJoiner::collectThrough(int32_t op, int reach) {
  const OpClass &opClass = graph.classOf(op);
  ArrayRef<int32_t> operands = state.operandsOf(op);
  auto collects = [&](unsigned i) { return collect(operands[i], reach); };
  if (opClass.summands.any())
    return all_of(opClass.summands.set_bits(), collects);
  int i = opClass.linear.find_first();
  if (i < 0 || !collects(i))
    return false;
  auto bytes = [&](int32_t value) {
    return localBytes(
        table.tensor(graph.value(value).tensor),
        TensorSharding::fullyClosed(state.readSharding(value).dims.size()));
  };
  if (operands.size() > 1)
    passed.push_back(resultOf(op));
  return bytes(resultOf(op)) <= bytes(operands[i]);
}

TensorSharding SumJoiner::inParts(int32_t value, const AxisList &axes) const {
  TensorSharding sharding = state.readSharding(value);
  for (DimSharding &dim : sharding.dims)
    dim.axes = dim.axes.subtract(axes);
  sharding.unreduced = axes;
  sharding.kind = ReductionKind::Sum;
  return sharding;
}

/// An op that leaves its result in parts.
struct SumJoiner::Joined {
  int32_t op = -1;
  const OpStrategy *strategy = nullptr;
  /// Operands that are then sharded as they are made.
  SmallVector<std::pair<int32_t, int32_t>, 2> operands;
  double saved = 0;
};

/// The op that makes the value has it resharded, for one op alone.
bool SumJoiner::isMovedForOnlyUse(int32_t value) const {
  if (state.sourceOf(value) != value || graph.usesOf(value).size() != 1)
    return false;
  int32_t producer = graph.value(value).producer;
  const OpStrategy *strategy = state.strategyOf(producer);
  return strategy && graph.numResults(producer) == 1 &&
         strategy->needed.back() != state.shardingOf(value) &&
         partsOf(producer).empty();
}

/// What the op would do if its result was wanted in parts; nothing if it can't
/// leave it so.
std::optional<SumJoiner::Joined> SumJoiner::joinedIf(int32_t op,
                                                     const AxisList &axes) {
  const OpStrategy &present = *state.strategyOf(op);
  Joined joined;
  joined.op = op;
  auto price = [&](const OpStrategy &strategy) {
    return table.price(strategy).value_or(HUGE_VAL);
  };
  joined.saved = price(present);
  SmallVector<int32_t, 4> shardings;
  for (int32_t operand : state.operandsOf(op)) {
    shardings.push_back(state.shardingOf(operand));
    if (!isMovedForOnlyUse(operand))
      continue;
    int32_t producer = graph.value(operand).producer;
    shardings.back() = state.strategyOf(producer)->needed.back();
    joined.operands.emplace_back(operand, shardings.back());
    joined.saved +=
        price(*state.strategyOf(producer)) -
        price(state.strategyIf(producer, operand, shardings.back()));
  }
  shardings.push_back(table.add(inParts(resultOf(op), axes)));
  const SmallBitVector &free = graph.classOf(op).free;
  double least = HUGE_VAL;
  for (const FactorStrategy &factors : table.getSolver().strategies(
           table.problemOf(present.kind, shardings, free))) {
    const OpStrategy &strategy =
        table.make(present.kind, shardings, free, factors);
    if (strategy.needed.back() != shardings.back() ||
        strategy.shards < present.shards || price(strategy) >= least)
      continue;
    joined.strategy = &strategy;
    least = price(strategy);
  }
  if (!joined.strategy)
    return std::nullopt;
  joined.saved -= least;
  return joined;
}

bool SumJoiner::tryParts(const AxisList &axes) {
  // An op that reads another operand too is computed on shards as long as its
  // operand is reduced before.
  for (int32_t value : passed)
    for (const DimSharding &dim : state.readSharding(value).dims)
      if (dim.axes.excludes(axes))
        return false;
  double saved = 0;
  SmallVector<Joined, 2> joined;
  for (int32_t op : summands) {
    const OpStrategy &present = *state.strategyOf(op);
    if (partsOf(op) == axes) {
      if (table.sharding(present.needed.back()).dims !=
          inParts(resultOf(op), axes).dims)
        return false;
      continue;
    }
    // Others may be reduced together with it.
    bool isAlone = partsOf(op).empty() || count_if(summands, [&](int32_t o) {
                                            return partsOf(o) == partsOf(op);
                                          }) == 1;
    std::optional<Joined> other = isAlone ? joinedIf(op, axes) : std::nullopt;
    if (!other)
      return false;
    saved += other->saved;
    joined.push_back(std::move(*other));
  }
  if (!(saved > kLeastSaving))
    return false;
  for (const Joined &other : joined) {
    for (auto [operand, sharding] : other.operands)
      state.change(operand, sharding);
    state.takeStrategy(other.op, other.strategy->kind,
                       *other.strategy->factors);
  }
  return true;
}

void SumJoiner::visit(int32_t op) {
  const OpClass &opClass = graph.classOf(op);
  if (opClass.summands.none() || !state.strategyOf(op))
    return;
  summands.clear();
  passed.clear();
  for (unsigned i : opClass.summands.set_bits())
    if (!collect(state.operandsOf(op)[i], kMeetingReach))
      return;
  SmallVector<AxisList, 2> tried;
  for (size_t i = 0; i < summands.size(); ++i) {
    const AxisList axes = partsOf(summands[i]);
    if (axes.empty() || is_contained(tried, axes))
      continue;
    if (tryParts(axes))
      return;
    tried.push_back(axes);
  }
}

} // namespace

void joinSums(StrategyState &state) {
  SumJoiner joiner(state);
  for (int32_t op = 0, e = state.getGraph().numOps(); op < e; ++op)
    joiner.visit(op);
}

} // namespace shardonnay
