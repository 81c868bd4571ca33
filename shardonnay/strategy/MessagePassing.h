//===- MessagePassing.h - choices that pay for neighbours -------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Variables have alternatives, each with a cost of its own; an edge has a cost
// for each pair of alternatives of its two variables. Sought is a alternative
// of each variable such that the sum of all costs is least.
//
//   1. A variable of degree 0, 1 or 2 is eliminated: its best answer to every
//      alternative (pair) of its neighbours becomes a cost of these. Exact; all
//      trees, rings and series-parallel graphs end here.
//   2. What is left is the core. Messages along its edges move costs between
//      variables and edges without changing any sum, such that the lower bound
//
//        sum over variables min(own) + sum over edges min(edge)
//
//      never falls. Each sweep also fixes the variables in order; the best
//      selection seen is improved by changing one variable at a time.
//   3. The eliminated variables take their best answers, last one first.
//
// Worked example, a chain a - b - c, two alternatives each, all own costs 0 but
// a's first 0, second 5; edges cost 0 between equal alternatives, else 3; c
// must be the second. b is eliminated: a - c costs 3 unless equal. Best is
// first, either, second: 3.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_MESSAGEPASSING_H
#define SHARDONNAY_STRATEGY_MESSAGEPASSING_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shardonnay {

/// The cost of what must not be. Any selection of at least that cost is void.
inline constexpr double kForbiddenCost = 1e18;

struct CostGraph {
  struct Edge {
    int32_t a = 0, b = 0;
    /// The cost of alternative i of `a` with j of `b` is cost[i * alternatives
    /// of b
    /// + j].
    std::vector<double> cost;
  };

  /// Costs of the alternatives, at least one, by variable.
  std::vector<std::vector<double>> own;
  /// Between different variables; several between two add up.
  std::vector<Edge> edges;

  /// The cost of one alternative for each variable.
  double costOf(const std::vector<int32_t> &selected) const;
};

struct CostGraphSolution {
  /// By variable.
  std::vector<int32_t> selected;
  double cost = 0;
  /// No selection costs less. Equal to `cost` where the core was empty.
  double bound = 0;
};

/// How often messages go forth and back through the core.
inline constexpr int kMessageSweeps = 20;

/// At most the cost of `start`, a alternative for each variable. Costs must not
/// be negative. Takes time in the number of variables and edges times the
/// number of alternatives cubed.
CostGraphSolution passMessages(const CostGraph &graph,
                               const std::vector<int32_t> &start);

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_MESSAGEPASSING_H
