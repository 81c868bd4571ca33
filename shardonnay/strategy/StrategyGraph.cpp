//===- StrategyGraph.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/StrategyGraph.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardonnay {

int32_t StrategyGraphBuilder::addClass(OpClass opClass) {
  graph.classes.push_back(std::move(opClass));
  return graph.classes.size() - 1;
}

int32_t StrategyGraphBuilder::addValue(StrategyValue value) {
  graph.values.push_back(value);
  return graph.values.size() - 1;
}

void StrategyGraphBuilder::addUse(int32_t value, const StrategyUse &use) {
  found.emplace_back(value, use);
}

void StrategyGraphBuilder::addUnknownUse(int32_t value) {
  StrategyUse use;
  use.reader = graph.ops.size() - 1;
  addUse(value, use);
}

int32_t StrategyGraphBuilder::addOp(int32_t opClass, ArrayRef<int32_t> operands,
                                    ArrayRef<int32_t> needs,
                                    int32_t firstResult, int32_t numResults) {
  int32_t number = graph.ops.size();
  graph.ops.push_back({opClass, static_cast<int32_t>(graph.operands.size()),
                       firstResult, numResults});
  append_range(graph.operands, operands);
  for (int32_t i = 0; i < numResults; ++i) {
    graph.values[firstResult + i].producer = number;
    graph.values[firstResult + i].result = i;
  }
  for (auto [i, value] : enumerate(operands)) {
    StrategyUse use = {-1, static_cast<int32_t>(i), -1, number};
    if (needs.empty())
      use.op = number;
    else
      use.need = needs[i];
    addUse(value, use);
  }
  return number;
}

void StrategyGraphBuilder::setMemoryPrice(int32_t op, double price) {
  graph.memoryPrices.resize(graph.ops.size());
  graph.memoryPrices[op] = price;
}

StrategyGraph StrategyGraphBuilder::finish() {
  if (!graph.memoryPrices.empty())
    graph.memoryPrices.resize(graph.ops.size());
  graph.ops.push_back({-1, static_cast<int32_t>(graph.operands.size()),
                       static_cast<int32_t>(graph.values.size()), 0});
  // Counted, then put from the back of each value's place.
  graph.firstUses.assign(graph.values.size() + 1, 0);
  for (const auto &[value, use] : found)
    ++graph.firstUses[value + 1];
  for (size_t i = 0; i < graph.values.size(); ++i)
    graph.firstUses[i + 1] += graph.firstUses[i];
  std::vector<int32_t> place(graph.firstUses.begin() + 1,
                             graph.firstUses.end());
  graph.uses.resize(found.size());
  for (const auto &[value, use] : found)
    graph.uses[--place[value]] = use;
  return std::move(graph);
}

} // namespace shardonnay
