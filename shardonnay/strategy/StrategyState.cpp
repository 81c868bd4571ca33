//===- StrategyState.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/StrategyState.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardonnay {

/// No value, and none of its shardings.
static constexpr int32_t kNone = -1;

static const OpStrategy *solveFor(const OpClass &opClass,
                                  ArrayRef<int32_t> shardings,
                                  OpStrategies &table) {
  if (opClass.kind < 0)
    return nullptr;
  int32_t kind = opClass.kind;
  if (int32_t picking = opClass.pickingKind; picking >= 0) {
    const FactorRule &rule = *table.kind(picking).rule;
    auto isSharded = [&](size_t result, size_t dim) {
      int32_t sharding = shardings[rule.operands.size() + result];
      return sharding >= 0 && !table.sharding(sharding).dims[dim].axes.empty();
    };
    if (!shardsPickedDim(rule, isSharded))
      kind = picking;
  }
  return &table.solve(kind, shardings, opClass.free);
}

StrategyState::StrategyState(const StrategyGraph &graph, OpStrategies &table)
    : graph(&graph), table(&table), operands(graph.getOperandValues()) {
  shardings.reserve(graph.numValues());
  for (size_t value = 0; value < graph.numValues(); ++value)
    shardings.push_back(graph.value(value).sharding);
  std::vector<const OpStrategy *> ofClasses;
  for (const OpClass &opClass : graph.getClasses())
    ofClasses.push_back(solveFor(opClass, opClass.shardings, table));
  strategies.reserve(graph.numOps());
  for (size_t op = 0; op < graph.numOps(); ++op)
    strategies.push_back(ofClasses[graph.classNumber(op)]);
}

int32_t StrategyState::needOf(const StrategyUse &use) const {
  bool isReshard =
      use.op < 0 && use.reader >= 0 && graph->classOf(use.reader).isReshard;
  return isReshard ? shardings[graph->firstResult(use.reader)] : use.need;
}

void StrategyState::forEachUse(
    int32_t value, function_ref<void(const StrategyUse &)> visit) const {
  for (StrategyUse use : graph->usesOf(value))
    if (use.op < 0 || operandsOf(use.op)[use.operand] == value) {
      use.need = needOf(use);
      visit(use);
    }
  for (const Copy &copy : copiesOf(value))
    visit({-1, 0, copy.sharding});
}

SmallVector<StrategyState::Copy, 2>
StrategyState::copiesOf(int32_t value) const {
  SmallVector<Copy, 2> found;
  if (auto known = copyNumbers.find(value); known != copyNumbers.end())
    for (int32_t number : known->second)
      if (const Copy &copy = copies[number - graph->numValues()];
          copy.numReaders > 0)
        found.push_back(copy);
  return found;
}

bool StrategyState::mayMove(int32_t value) const {
  const StrategyValue &known = graph->value(value);
  return known.tensor >= 0 && isUsed(value) && !known.constant &&
         readSharding(value).unreduced.empty() &&
         none_of(graph->usesOf(value),
                 [](const StrategyUse &use) { return use.isUnknown(); });
}

void StrategyState::shardingsOf(int32_t op, int32_t value, int32_t sharding,
                                SmallVectorImpl<int32_t> &result) const {
  auto add = [&](int32_t number) {
    result.push_back(number == value ? sharding : shardings[number]);
  };
  for_each(operandsOf(op), add);
  for (int32_t i = 0; i < graph->numResults(op); ++i)
    add(graph->firstResult(op) + i);
}

const OpStrategy *StrategyState::solve(int32_t op, int32_t value,
                                       int32_t sharding) const {
  SmallVector<int32_t, 8> around;
  shardingsOf(op, value, sharding, around);
  return solveFor(graph->classOf(op), around, *table);
}

const OpStrategy &StrategyState::strategyIf(int32_t op, int32_t value,
                                            int32_t sharding) {
  return *solve(op, value, sharding);
}

void StrategyState::change(int32_t value, int32_t sharding,
                           function_ref<void(int32_t)> changed) {
  shardings[value] = sharding;
  auto solvesAgain = [&](int32_t op) {
    strategies[op] = solve(op, kNone, kNone);
    changed(op);
  };
  solvesAgain(graph->value(value).producer);
  for (const StrategyUse &use : graph->usesOf(value))
    if (use.op >= 0 && operandsOf(use.op)[use.operand] == value)
      solvesAgain(use.op);
}

bool StrategyState::isAsAtFirst(int32_t op) const {
  SmallVector<int32_t, 8> around;
  shardingsOf(op, kNone, kNone, around);
  return around == graph->classOf(op).shardings;
}

void StrategyState::takeStrategy(int32_t op, int32_t kind,
                                 const FactorStrategy &strategy) {
  if (strategies[op]->kind != kind)
    return;
  SmallVector<int32_t, 8> around;
  shardingsOf(op, kNone, kNone, around);
  const SmallBitVector &free = graph->classOf(op).free;
  const OpStrategy &cheapest = table->solve(kind, around, free);
  strategies[op] = *cheapest.factors == strategy
                       ? &cheapest
                       : &table->make(kind, around, free, strategy);
}

void StrategyState::assign(int32_t op, const StrategyState &other) {
  auto [begin, end] = graph->operandRange(op);
  for (int32_t i = begin; i < end; ++i)
    setOperand(i, other.operands[i]);
  strategies[op] = other.strategies[op];
  for (int32_t i = 0; i < graph->numResults(op); ++i) {
    int32_t result = graph->firstResult(op) + i;
    shardings[result] = other.shardings[result];
  }
}

int32_t StrategyState::addCopy(int32_t value, int32_t sharding) {
  for (int32_t number : copyNumbers[value])
    if (shardings[number] == sharding)
      return number;
  int32_t copy = shardings.size();
  shardings.push_back(sharding);
  copies.push_back({value, sharding});
  copyNumbers[value].push_back(copy);
  return copy;
}

void StrategyState::setOperand(int32_t place, int32_t value) {
  auto addReaders = [&](int32_t number, int32_t count) {
    if (int32_t copy = number - graph->numValues(); copy >= 0)
      copies[copy].numReaders += count;
  };
  addReaders(operands[place], -1);
  operands[place] = value;
  addReaders(value, 1);
}

void StrategyState::redirect(int32_t op, int32_t from, int32_t to) {
  auto [begin, end] = graph->operandRange(op);
  for (int32_t i = begin; i < end; ++i)
    if (operands[i] == from)
      setOperand(i, to);
  strategies[op] = solve(op, kNone, kNone);
}

bool StrategyState::verify(std::string &error) const {
  for (int32_t op = 0, e = graph->numOps(); op < e; ++op) {
    const OpStrategy *strategy = strategies[op];
    if (!strategy)
      continue;
    SmallVector<int32_t, 8> around;
    shardingsOf(op, kNone, kNone, around);
    for (auto [i, sharding] : enumerate(around))
      if (strategy->differs.test(i) != (strategy->needed[i] != sharding)) {
        error = "op " + std::to_string(op) + " was chosen for another " +
                "sharding of tensor " + std::to_string(i);
        return false;
      }
    if (!isLawful(*strategy->factors, *table->kind(strategy->kind).rule)) {
      error = "op " + std::to_string(op) + " has an unlawful strategy";
      return false;
    }
  }
  for (auto [i, copy] : enumerate(copies))
    if (int32_t number = graph->numValues() + i;
        copy.numReaders != count(operands, number)) {
      error = "copy " + std::to_string(number) + " has other readers";
      return false;
    }
  return true;
}

} // namespace shardonnay
