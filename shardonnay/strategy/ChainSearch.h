//===- ChainSearch.h - one move and what follows from it --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LocalSearch.h moves a value at a time, each to what is cheaper for the ops
// around it. Between two plans of a whole chain of ops every state may be
// more expensive than both. So here a move is followed by what comes from it,
// as in the ejection chains of combinatorial search: some value is sharded
// otherwise, or its users share a copy, or a result stays as its producer
// leaves it; each user takes the strategy that it would have if its results
// were free; these are sharded as it leaves them, and so on, in the order of
// the block, until nothing changes or kMostChainOps have moved. Where a result
// is resharded for its users, the move goes the other way first: its producer
// leaves it as they need it, and asks the same of what it reads, up to
// contractions and to what the block is given. The block as a whole is priced
// (StateEvaluator.h), and what is not cheaper is taken back. Where that is of
// no use, what reads it resharded takes it as it is, and its results follow.
//
// Worked example, attention whose input x is sharded along the sequence and
// whose weights along the heads, by the same axis. Ops alone gather the weights
// for Q, K and V, as each is smaller than x, and then all of K and V. No value
// can leave that plan alone: Q by heads meets K along the sequence. A copy of x
// that is gathered once makes Q, K and V by heads, and the chain goes on to the
// projection behind them.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_CHAINSEARCH_H
#define SHARDONNAY_STRATEGY_CHAINSEARCH_H

#include "shardonnay/strategy/StrategyState.h"

namespace shardonnay {

/// How many ops a chain goes through at most.
inline constexpr int kMostChainOps = 256;
/// All values are looked at again while chains are kept, so often at most.
inline constexpr int kMostChainRounds = 4;
/// How many users a value may have where a chain starts.
inline constexpr size_t kMostSeedUses = 16;
/// A chain starts at a contraction whose reshards take more than this share of
/// its own time.
inline constexpr double kLeastReshardShare = 0.1;
/// A chain starts at a result that is resharded, or a sum that is reduced, for
/// more than this share of the price of the block's reshards.
inline constexpr double kLeastResultShare = 5e-4;
/// What a chain must save, of the price of the block.
inline constexpr double kLeastChainSaving = 1e-6;
/// And of the price of the reshards of a block that runs repeatedly, where the
/// chain changes ops that leave partial sums: later stages add up such sums
/// before they reduce them, in a loop behind all of its iterations, which the
/// price of the block does not know. The 254 of 896 plans that change with it
/// send 0.900 of the bytes in geometric mean, 0.903 if any saving will do, and
/// 0.926 if no such op may change.
inline constexpr double kLeastSavingOfSums = 0.08;

/// Changes the state where a chain makes the block cheaper.
void searchChains(StrategyState &state);

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_CHAINSEARCH_H
