//===- NeighborSearch.h - strategies of neighbours together -----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the strategies of a block's ops together, and with them how the
// values between them are sharded, by message passing
// (strategy/MessagePassing.h). A variable is an op, its alternatives the
// strategies that OpSolver allows; or a value between ops, its alternatives its
// present sharding and those that the ops around it would have it in. An edge
// costs the reshard between the two.
//
// Only what stands near a disagreement is weighed: ops up to kSearchRadius
// steps from one whose operands or results have to be resharded. What the user
// fixed stays: arguments, results of ops without a strategy, what a fixed use
// needs, values with an unknown use.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_NEIGHBORSEARCH_H
#define SHARDONNAY_STRATEGY_NEIGHBORSEARCH_H

#include "shardonnay/strategy/StrategyState.h"

namespace shardonnay {

inline constexpr int kSearchRadius = 4;
/// What moves must save, of the cost of what was weighed: less is not worth
/// deviating from propagation for.
inline constexpr double kLeastGain = 1e-6;

/// What the strategies that were found cost, in byte times: chosen for one op
/// at a time, then together; no others of the same set cost less than `bound`.
struct SearchCosts {
  double greedyCost = 0;
  double cost = 0;
  double bound = 0;
  /// Values that are sharded otherwise.
  int64_t moved = 0;

  void add(const SearchCosts &other) {
    greedyCost += other.greedyCost;
    cost += other.cost;
    bound += other.bound;
    moved += other.moved;
  }
};

/// Changes the state where that is cheaper by real reshards.
SearchCosts searchNeighbors(StrategyState &state);

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_NEIGHBORSEARCH_H
