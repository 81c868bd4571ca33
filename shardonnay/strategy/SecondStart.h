//===- SecondStart.h - a search from where work is divided ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search ends in the first state that no move makes cheaper. Where computing
// is cheap beside communicating, ops begin with strategies that repeat work or
// stay with the shards that their operands have, each because that saves its
// own reshards; together they pay for more than if all divided their work. So
// there is a second search, with compute weighed (MeshCosts::weighCompute): it
// comes to where more is divided. From there the search goes on as prices are,
// and the cheaper of the two states stays.
//
// Worked example, an MLP whose small weights are sharded by x, and whose many
// rows are not. Each op alone keeps the weights as they are, and the hidden
// units, a thousand times as large, are summed up and gathered. If the rows
// are sharded by x, too, only weights move.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_SECONDSTART_H
#define SHARDONNAY_STRATEGY_SECONDSTART_H

#include "shardonnay/strategy/SearchMemo.h"
#include "shardonnay/strategy/StrategyState.h"

namespace shardonnay {

/// A second start is worth its time where reshards take at least this share of
/// the block's price.
inline constexpr double kLeastCommunication = 0.05;
/// What it must save of that price to be taken: later stages change prices by
/// as much.
inline constexpr double kLeastSecondSaving = 0.01;

/// What searches on one table have found, with prices as they are and weighed.
struct SearchMemos {
  SearchMemo asTheyAre, weighed;
};

/// Searches from `state` (LocalSearch.h, ChainSearch.h), and where that may
/// help from a second start; `arguments` are the values of the block's
/// arguments.
void searchStrategies(StrategyState &state, llvm::ArrayRef<int32_t> arguments,
                      SearchMemos &memos);

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_SECONDSTART_H
