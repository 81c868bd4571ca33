//===- StateEvaluator.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/StateEvaluator.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace shardonnay {

//===----------------------------------------------------------------------===//
// RangeMaximum
//===----------------------------------------------------------------------===//

RangeMaximum::RangeMaximum(size_t size)
    : size(PowerOf2Ceil(std::max<size_t>(size, 1))), nodes(2 * this->size) {}

void RangeMaximum::add(size_t begin, size_t end, int64_t amount) {
  if (amount != 0)
    add(1, 0, size, begin, end, amount);
}

void RangeMaximum::add(size_t node, size_t first, size_t length, size_t begin,
                       size_t end, int64_t amount) {
  if (end <= first || begin >= first + length)
    return;
  if (begin <= first && first + length <= end) {
    nodes[node].added += amount;
    nodes[node].maximum += amount;
    return;
  }
  add(2 * node, first, length / 2, begin, end, amount);
  add(2 * node + 1, first + length / 2, length / 2, begin, end, amount);
  nodes[node].maximum =
      nodes[node].added +
      std::max(nodes[2 * node].maximum, nodes[2 * node + 1].maximum);
}

//===----------------------------------------------------------------------===//
// StateEvaluator
//===----------------------------------------------------------------------===//

StateEvaluator::StateEvaluator(const StrategyState &state)
    : state(state), graph(state.getGraph()), table(state.getTable()),
      ops(graph.numOps()), values(graph.numValues()), alive(graph.numOps()) {
  for (size_t op = 0; op < graph.numOps(); ++op)
    updateOp(op);
  size_t numValues = graph.numValues() + state.getCopies().size();
  values.resize(numValues);
  for (size_t value = 0; value < numValues; ++value)
    replace(values[value], partOfValue(value));
}

StateCost StateEvaluator::get() const {
  double trips = graph.getTrips();
  return {impossible ? HUGE_VAL : trips * price, trips * reshards,
          trips * bytes, alive.get()};
}

void StateEvaluator::replace(Part &part, const Part &with) {
  price += with.price - part.price;
  reshards += with.reshards - part.reshards;
  bytes += with.bytes - part.bytes;
  impossible += with.impossible - part.impossible;
  alive.add(part.begin, part.end, -part.alive);
  alive.add(with.begin, with.end, with.alive);
  part = with;
}

void StateEvaluator::addReshard(int32_t value, int32_t from, int32_t to,
                                Part &part) const {
  if (from == to)
    return;
  std::optional<ReshardCost> cost =
      table.reshardCost(graph.value(state.sourceOf(value)).tensor, from, to);
  if (!cost) {
    ++part.impossible;
    return;
  }
  part.price += cost->price;
  part.reshards += cost->price;
  part.bytes += cost->bytes;
}

bool StateEvaluator::isFused(int32_t value) const {
  if (value >= static_cast<int32_t>(graph.numValues()) ||
      graph.usesOf(value).size() > kMostFusedUses)
    return false;
  auto agrees = [&](int32_t op, unsigned tensor) {
    const OpStrategy *strategy = state.strategyOf(op);
    return strategy && table.kind(strategy->kind).elementwise &&
           !strategy->differs.test(tensor);
  };
  const StrategyValue &known = graph.value(value);
  bool fused = state.isUsed(value) && known.producer >= 0 &&
               agrees(known.producer,
                      graph.operandsOf(known.producer).size() + known.result);
  if (fused)
    state.forEachUse(value, [&](const StrategyUse &use) {
      fused &= agrees(use.op, use.operand);
    });
  return fused;
}

StateEvaluator::Part StateEvaluator::partOfOp(int32_t op) const {
  Part part;
  const OpStrategy *strategy = state.strategyOf(op);
  if (!strategy)
    return part;
  const OpWork &work = table.workOf(*strategy);
  const OpKind &kind = table.kind(strategy->kind);
  ArrayRef<int32_t> operands = state.operandsOf(op);
  double touched = 0;
  part.begin = op;
  part.end = op + 1;
  for (auto [i, tensor] : enumerate(kind.tensors)) {
    if (tensor < 0)
      continue;
    bool isResult = i >= operands.size();
    int32_t value =
        isResult ? graph.firstResult(op) + i - operands.size() : operands[i];
    if (!kind.elementwise || !isFused(value))
      touched += work.touched[i];
    if (!strategy->differs.test(i))
      continue;
    part.alive +=
        localBytes(table.tensor(tensor), table.sharding(strategy->needed[i]));
    if (isResult && state.isUsed(value))
      addReshard(value, strategy->needed[i], state.shardingOf(value), part);
  }
  part.price += table.getSolver().prices().computePrice(work.flops, touched) +
                work.fetchPrice;
  return part;
}

StateEvaluator::Part StateEvaluator::partOfValue(int32_t value) const {
  Part part;
  const StrategyValue &known = graph.value(state.sourceOf(value));
  if (known.tensor < 0 || known.constant || !state.isRead(value))
    return part;
  int32_t present = state.shardingOf(value);
  part.begin = std::max(known.producer, 0);
  part.end = part.begin + 1;
  if (!isFused(value))
    part.alive =
        localBytes(table.tensor(known.tensor), table.sharding(present));
  if (double price = graph.memoryPrice(known.producer))
    part.price +=
        price * localBytes(table.tensor(known.tensor), table.sharding(present));
  SmallSet<int32_t, 4> paid;
  auto pay = [&](int32_t need) {
    if (need >= 0 && paid.insert(need).second)
      addReshard(value, present, need, part);
  };
  // Those of a copy are uses of its source that read the copy.
  for (const StrategyUse &use : graph.usesOf(state.sourceOf(value))) {
    bool reads = use.op < 0 ? value == state.sourceOf(value)
                            : state.operandsOf(use.op)[use.operand] == value;
    if (!reads)
      continue;
    const OpStrategy *strategy = state.strategyOf(use.op);
    pay(strategy ? strategy->needed[use.operand] : state.needOf(use));
    part.end = std::max(part.end, use.reader + 1);
  }
  if (value == state.sourceOf(value))
    for (const StrategyState::Copy &copy : state.copiesOf(value))
      pay(copy.sharding);
  return part;
}

void StateEvaluator::updateOp(int32_t op) {
  if (op >= 0)
    replace(ops[op], partOfOp(op));
}

void StateEvaluator::updateAround(int32_t op) {
  values.resize(graph.numValues() + state.getCopies().size());
  // What is around it is fused otherwise.
  SmallVector<int32_t, 16> around = {op};
  auto addUsers = [&](int32_t value) {
    if (ArrayRef<StrategyUse> uses = graph.usesOf(value);
        uses.size() <= kMostFusedUses)
      for (const StrategyUse &use : uses)
        around.push_back(use.op);
  };
  for (int32_t operand : state.operandsOf(op)) {
    int32_t source = state.sourceOf(operand);
    replace(values[operand], partOfValue(operand));
    if (source != operand)
      replace(values[source], partOfValue(source));
    around.push_back(graph.value(source).producer);
    addUsers(source);
  }
  for (int32_t i = 0; i < graph.numResults(op); ++i) {
    int32_t result = graph.firstResult(op) + i;
    replace(values[result], partOfValue(result));
    addUsers(result);
  }
  for_each(around, [&](int32_t other) { updateOp(other); });
}

void StateEvaluator::update(int32_t value) {
  values.resize(graph.numValues() + state.getCopies().size());
  if (int32_t producer = graph.value(value).producer; producer >= 0)
    updateAround(producer);
  for (const StrategyUse &use : graph.usesOf(value))
    if (use.op >= 0)
      updateAround(use.op);
  replace(values[value], partOfValue(value));
  for (size_t copy = graph.numValues(); copy < values.size(); ++copy)
    if (state.sourceOf(copy) == value)
      replace(values[copy], partOfValue(copy));
}

//===----------------------------------------------------------------------===//
// CheapestState
//===----------------------------------------------------------------------===//

void CheapestState::offer(const StrategyState &state) {
  if (!price)
    price = StateEvaluator(cheapest).get().price;
  double offered = StateEvaluator(state).get().price;
  if (offered > *price)
    return;
  price = offered;
  cheapest = state;
}

} // namespace shardonnay
