//===- PermuteSearch.h - plans around one permute ---------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A permute gives a layout any other axes of the same shard counts, at the
// price of a local shard. So in a plan that has one, which axes stand where
// before it is of no account: only the shard counts of the dims are. This makes
// the search small, whatever the number of axes:
//
//   1. slices, reductions and all_to_alls bring the count of every dim to a
//      multiple of the target's;
//   2. the permute puts the target's axes first in every dim, and the axes that
//      the target does not use behind them;
//   3. all_gathers drop these.
//
// An all_to_all whose axes are no suffix of their dim follows the permute,
// which makes them one.
//
// A gather before the permute would only make the local shard larger, and a
// second permute is one with the first. Permute and gathers together send what
// a device has of the target, whatever the counts are; so a plan is as good as
// what it sends in 1 is little.
//
// Axes are split wherever counts ask for it, so no refinement of the layouts is
// needed.
//
// Worked example, x of size 2, y of size 4: from [{x}, {y}] to [{y}, {x}] dim 0
// lacks a factor of 2, which dim 1 has too many: an all_to_all of y's minor
// half, 1 -> 0, and a permute.
//
// Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_PERMUTESEARCH_H
#define SHARDONNAY_PLAN_PERMUTESEARCH_H

#include "shardonnay/plan/ReshardPlan.h"
#include <map>

namespace shardonnay {

/// Fills in the layouts between the steps of `plan`, its cost and its price.
void finishPlan(const ReshardProblem &problem, ReshardPlan &plan);

class PermuteSearch {
public:
  /// Requires that the problem is sound and that its sizes divide.
  explicit PermuteSearch(const ReshardProblem &problem);

  /// The cheapest steps of the form above, without the layouts between; nothing
  /// if there are none below `mostCost`.
  std::optional<Steps> run(double mostCost);
  /// The price of these steps.
  double getPrice() const { return bestCost; }

private:
  /// An all_to_all behind the permute.
  struct Exchange {
    int64_t from, to, shards;
  };
  /// A layout on the way to the permute.
  struct State {
    llvm::SmallVector<AxisList, 4> dims;
    /// The counts of the dims when all of `deferred` is done.
    llvm::SmallVector<int64_t, 4> counts;
    llvm::SmallVector<Exchange, 2> deferred;
    /// What is left to be reduced.
    AxisList partial;
    /// The target's axes that are not in use.
    AxisList free;
    int64_t elements = 1;
    /// The price of the steps before the permute.
    double cost = 0;
    /// At least the price of `deferred`.
    double deferredCost = 0;
  };

  double priceOf(CollectiveKind kind, const AxisList &axes,
                 int64_t elements) const;
  void visit(const State &state);
  void trySlices(const State &state);
  void tryReductions(const State &state);
  void tryExchanges(const State &state);
  void exchange(const State &state, int64_t from, int64_t to, int64_t shards);
  void deferExchange(const State &state, int64_t from, int64_t to,
                     int64_t shards);
  /// Permute, exchanges and gathers from `state`, if they lead to the target.
  void tryPermute(const State &state);
  /// The gathers behind the permute, and in `layout` what they start from;
  /// nothing if the counts are no multiples of the target's.
  std::optional<Steps> gatherBehind(const State &state,
                                    llvm::SmallVectorImpl<AxisList> &layout);
  /// The steps of `state.deferred`; `layout`, which they lead to, becomes what
  /// they start from. Nothing if the axes do not fit.
  std::optional<Steps> exchangeBehind(const State &state,
                                      llvm::SmallVectorImpl<AxisList> &layout);
  double priceOf(const Steps &list, int64_t elements) const;
  /// Visits what `step` leads to.
  void follow(State next, Step step, int64_t elementsBefore);
  /// By what the target's count of `dim` is larger.
  int64_t lackOf(const State &state, int64_t dim) const;
  /// By what the count of `dim` is larger than the target's.
  int64_t excessOf(const State &state, int64_t dim) const;
  bool divides(const State &state, int64_t dim, int64_t shards) const;
  /// How much of `all` that may be added to the count of `dim` is worth a try:
  /// what the dim lacks, and all, which makes the local shard the smallest.
  llvm::SmallVector<int64_t, 2> partsToAdd(const State &state, int64_t dim,
                                           int64_t all) const;

  const ReshardProblem &problem;
  /// The axes of the source that the target does not use.
  AxisList dropped;
  State source;
  /// At least the price of the permute and the gathers behind it.
  double leastRest = 0;
  Steps steps, best;
  double bestCost = 0;
  /// The least cost by counts, and what is left to be reduced.
  std::map<std::vector<int64_t>, double> known;
};

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_PERMUTESEARCH_H
