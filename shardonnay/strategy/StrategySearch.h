//===- StrategySearch.h - the strategies of one op --------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Searches the strategies of axes to factors for the cheapest one. OpSolver.h
// says which there are and what each costs.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_STRATEGYSEARCH_H
#define SHARDONNAY_STRATEGY_STRATEGYSEARCH_H

#include "shardonnay/strategy/OpSolver.h"
#include "shardonnay/strategy/RequiredLayouts.h"
#include "shardonnay/strategy/StrategyBound.h"
#include <map>
#include <queue>

namespace shardonnay {

/// The tensors of a problem as the vote sees them.
llvm::SmallVector<VoteTensor, 4> rowsOf(const OpProblem &problem);
/// The points of the factor space that one device computes if there are so many
/// shards of each factor.
double localPoints(const FactorRule &rule, llvm::ArrayRef<int64_t> shards);
double localPoints(const FactorRule &rule, const FactorStrategy &strategy);
/// FLOPs of one device. An op that needs dims whole is taken to sort its
/// tensors along them: a step for each of log2(size). One whose results are
/// exchanged takes one. (A scatter has many updates and many places, but not
/// each at each.)
double localFlops(const OpProblem &problem, llvm::ArrayRef<int64_t> shards);
double localFlops(const OpProblem &problem, const FactorStrategy &strategy);
/// The bytes of an op's tensors that go to memory and back: in a chain of fused
/// ops only the chain reads and writes.
double movedBytes(const OpProblem &problem, double touched);

class StrategySearch {
public:
  StrategySearch(OpSolver &solver, const OpProblem &problem, const Mesh &mesh)
      : solver(solver), problem(problem), mesh(mesh), rows(rowsOf(problem)),
        requiredLayouts(problem, solver.prices()) {}

  /// The voted strategy, or the first of those that are cheapest.
  OpSolver::Solution run();
  /// The cheapest one but `taken`.
  std::optional<OpSolver::OtherStrategy>
  runWithout(const FactorStrategy &taken);
  /// `taken`, and the cheapest of the others.
  std::vector<FactorStrategy> runAll(const FactorStrategy &taken);

private:
  /// The least price of any strategy: where the axes shard all that there is.
  double leastOwnPrice() const;
  void limitWork();
  double pointsHeld() const;
  /// The voted strategy takes the operands as they are.
  bool operandsAgree() const;
  /// False if parts of an axis do not nest, which leaves `axes` empty, or all
  /// is too much to enumerate.
  bool collectAxes();
  void enumerateAll();
  /// From `best`, what differs in the place of a factor's axes, of one axis or
  /// of all, for as long as that is cheaper; else of two, from `best` too.
  void climb();
  /// How a strategy places the axes, if the bound is to be asked of it.
  std::optional<StrategyBound::Placed> placedBy(const FactorStrategy &strategy);
  /// `taken`, but that an axis, by its number, is elsewhere or nowhere;
  /// `placed`, if given, is how it places its axes.
  void considerMoves(const FactorStrategy &taken);
  void considerMoves(size_t number, const FactorStrategy &taken,
                     const std::optional<StrategyBound::Placed> &placed);
  /// The same, but that two axes are each at some factor, in both orders where
  /// it is one, and neither is where it would be if the other alone had moved.
  void considerPairs(const FactorStrategy &taken);
  void considerPair(size_t a, size_t b, const FactorStrategy &taken,
                    const std::optional<StrategyBound::Placed> &placed);
  /// All axes of `taken` at one factor, list by list in every order.
  void considerUnions(const FactorStrategy &taken);
  /// The axes from `axis` on; `points` are those of `placed` on a device.
  void distribute(size_t axis, double points, StrategyBound::Placed &placed);
  /// No strategy that places the axes from `axis` on as well is of interest.
  bool computesTooMuch(size_t axis, double points) const;
  FactorStrategy strategyOf(const StrategyBound::Placed &placed) const;
  bool hasOneOrder(int32_t factor, const AxisList &here) const;
  void tryOrders(int32_t factor, FactorStrategy &strategy);
  /// Whether it may be taken, and be cheap enough, in this order of a factor's
  /// axes or in any other.
  bool isAllowed(const FactorStrategy &strategy);
  /// A bound on the price in any order of the axes; nothing if it may not be
  /// taken, or is not cheap enough.
  std::optional<double> leastOf(const StrategyBound::Placed &placed);
  /// Whether the bound on its price is to be asked at all.
  bool hasBound();
  void considerIfAllowed(const FactorStrategy &strategy);
  /// Adds an allowed one to `found`, unless its bound is too high.
  void consider(const FactorStrategy &strategy);
  /// Puts the cheapest of what was found among `cheapest`, which becomes no
  /// longer than `most`. Prices no more than `numPriced`, by their bounds.
  void priceBest(size_t most, size_t numPriced = SIZE_MAX);
  /// The same of the enumeration's placements: one by one, by the bounds, they
  /// become strategies, and these are priced. The cheaper the best is, the
  /// fewer are made at all.
  void pricePlacements(size_t most);
  /// Puts a strategy of `found` among `cheapest`, if it is cheap enough.
  void price(int64_t number, size_t most);
  /// What costs more is not among the `most` cheapest.
  double limitOf(size_t most) const;

  OpSolver &solver;
  const OpProblem &problem;
  const Mesh &mesh;
  llvm::SmallVector<VoteTensor, 4> rows;
  RequiredLayouts requiredLayouts;
  llvm::SmallVector<AxisRef, 6> axes;
  /// Those of `axes` that no tensor is sharded by.
  llvm::SmallVector<AxisRef, 2> idle;
  /// On these axes; made when it is first asked.
  std::optional<StrategyBound> bound;
  FactorStrategy best;
  /// What may only be extended; empty if anything goes.
  FactorStrategy kept;
  double mostPoints = 0;
  /// By how much the axes from each on can divide the work.
  llvm::SmallVector<double, 8> shardsLeft;
  /// What costs more is of no interest.
  double mostPrice = HUGE_VAL;
  const FactorStrategy *excluded = nullptr;
  /// Where the enumeration put the axes, each with a bound on the price.
  std::vector<std::pair<double, StrategyBound::Placed>> placements;
  /// Lawful ones by their numbers, each with a bound on its price.
  std::map<int64_t, std::pair<double, FactorStrategy>> found;
  int64_t nextNumber = 0;
  /// How many of them `priceBest` has seen.
  int64_t numOrdered = 0;
  /// Prices and numbers in `found`, the cheapest first, the first of equals
  /// first.
  std::vector<std::pair<double, int64_t>> cheapest;
};

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_STRATEGYSEARCH_H
