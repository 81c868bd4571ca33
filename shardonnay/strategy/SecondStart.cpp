//===- SecondStart.cpp - a search from where work is divided --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/SecondStart.h"
#include "shardonnay/strategy/ChainSearch.h"
#include "shardonnay/strategy/LocalSearch.h"
#include "shardonnay/strategy/StateEvaluator.h"
#include "llvm/ADT/Sequence.h"

using namespace llvm;

namespace shardonnay {

static void search(StrategyState &state, ArrayRef<int32_t> arguments,
                   SearchMemo &memo) {
  searchLocally(state, arguments, memo);
  searchChains(state);
}

/// Each op takes its cheapest strategy.
static void solveAgain(StrategyState &state) {
  for (int32_t op : seq<int32_t>(state.getGraph().numOps()))
    if (state.strategyOf(op)) {
      const OpStrategy &cheapest = state.strategyIf(op, -1, -1);
      state.takeStrategy(op, cheapest.kind, *cheapest.factors);
    }
}

/// Each op has the strategy that it has, with the prices that there are now.
static void priceAgain(StrategyState &state) {
  for (int32_t op : seq<int32_t>(state.getGraph().numOps()))
    if (const OpStrategy *present = state.strategyOf(op))
      state.takeStrategy(op, present->kind, *present->factors);
}

void searchStrategies(StrategyState &state, ArrayRef<int32_t> arguments,
                      SearchMemos &memos) {
  StrategyState second = state;
  search(state, arguments, memos.asTheyAre);
  if (state.getGraph().hasMemoryPrices())
    return;
  StateCost first = StateEvaluator(state).get();
  if (first.reshards < kLeastCommunication * first.price)
    return;
  OpStrategies &table = state.getTable();
  table.weighCompute(true);
  solveAgain(second);
  search(second, arguments, memos.weighed);
  table.weighCompute(false);
  priceAgain(second);
  search(second, arguments, memos.asTheyAre);
  if (StateEvaluator(second).get().price <
      first.price * (1 - kLeastSecondSaving))
    state = std::move(second);
}

} // namespace shardonnay
