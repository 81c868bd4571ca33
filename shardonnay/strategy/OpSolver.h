//===- OpSolver.h - the cheapest strategy of one op -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// voteStrategy decides what an op's tensors ask for by votes. This prices it:
// the price of a strategy is
//
//   * over its operands: the plan from the operand's layout to how the op
//     needs it,
//   * over its results: the plan from how the op leaves it to how it is wanted,
//   * what its windows fetch of other devices
//   * the op's own time on what a device has of it
//
// by one device model, and the cheapest strategy wins. The voted one stays
// unless another is strictly cheaper. What propagation decided is not undone:
// a contraction that takes its operands as they are may only get more axes,
// and no op has a device compute more than kRepeatedWork times what it would
// under the voted strategy, or than it has to hold of a result (which makes
// it cheaper to gather a small operand than what is padded or widened from it).
// Two kinds of ops may be repeated for their price: those that move elements
// and compute none (slices, pads, concatenates, lookups), and, where the model
// prices compute, those that need dims whole (a sort, a scan): to find the
// largest of a few on each device takes less time than to deal them out and to
// collect them again. Transforms, factorisations and ops of a user's rule may
// not, nor lookups where the model limits memory. With `no-gather-by-price`
// none may.
//
// The space: every axis that some tensor has (a contraction: every axis of the
// mesh) goes to one factor or to none; up to three axes of one factor stand in
// any order, more in one that some tensor has them in, or in the mesh's. It is
// enumerated whole where it has at most kStrategyBudget points. In a larger one
// the voted strategy, or what one of the tensors has, is changed in the place
// of a factor's axes (nearbyStrategies), of one axis or of two, for as long as
// that is cheaper (StrategySearch.h).
//
// Worked example, a head [b, k] x [k, v] with b over d and nothing over m: with
// v over m as well a device does a quarter of the work (m of size 4), takes its
// shard of the weight without communication, and gathers the logits.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_OPSOLVER_H
#define SHARDONNAY_STRATEGY_OPSOLVER_H

#include "shardonnay/plan/LocalCollective.h"
#include "shardonnay/plan/ReshardPlan.h"
#include "shardonnay/strategy/FactorStrategy.h"
#include <cmath>

namespace shardonnay {

/// In which part of an op's runs a tensor of it is resharded. Less than all
/// where a loop does not change the tensor, which is resharded before it, and
/// where it adds up parts of a sum, which are reduced behind it.
struct ReshardRuns {
  /// What is no part of a sum.
  double moved = 1;
  /// Parts of a sum.
  double reduced = 1;

  double from(bool isPartial) const { return isPartial ? reduced : moved; }
  bool operator==(const ReshardRuns &o) const {
    return moved == o.moved && reduced == o.reduced;
  }
};

llvm::hash_code hash_value(const ReshardRuns &runs);

/// A tensor of the op.
struct OpTensor {
  /// An operand's layout, or the one that is wanted of a result.
  TensorSharding sharding;
  llvm::SmallVector<int64_t> shape;
  int64_t elementBytes = 1;
  /// As in VoteTensor.
  bool free = false;
  ReshardRuns runs = {};

  /// The bytes of the whole tensor.
  int64_t bytes() const;
  bool operator==(const OpTensor &o) const {
    return sharding == o.sharding && shape == o.shape &&
           elementBytes == o.elementBytes && free == o.free && runs == o.runs;
  }
};

/// What is said of an op beside its rule and its tensors.
struct OpFeatures {
  bool contraction = false;
  /// FLOPs of an op that is none but does more than a few an element.
  int64_t transformFlops = 0;
  /// The axes of a contraction's mesh that it may not be sharded by: those of
  /// the manual computations around it.
  AxisList manual = {};
  /// Compilers fuse it with its neighbours in a chain.
  bool elementwise = false;
  /// What the user requires: no other strategy is considered.
  std::optional<FactorStrategy> required = {};

  bool operator==(const OpFeatures &o) const {
    return contraction == o.contraction && transformFlops == o.transformFlops &&
           manual == o.manual && elementwise == o.elementwise &&
           required == o.required;
  }
};

struct OpProblem : OpFeatures {
  FactorRule rule;
  /// Operands first, then results.
  llvm::SmallVector<OpTensor, 4> tensors;

  bool operator==(const OpProblem &o) const {
    return OpFeatures::operator==(o) && rule == o.rule && tensors == o.tensors;
  }
};

/// The voted strategy (FactorStrategy.h).
FactorStrategy voteStrategy(const OpProblem &problem);
/// Some dim of the op's tensors has to be whole.
bool needsWhole(const FactorRule &rule);
/// A device computes more than under the voted strategy.
bool repeatsWork(const OpProblem &problem, const FactorStrategy &strategy);
bool repeatsWork(const FactorRule &rule, const FactorStrategy &strategy,
                 const FactorStrategy &voted);

/// How much more of the factor space a device may compute than under the voted
/// strategy.
inline constexpr double kRepeatedWork = 1.02;
/// A comparison and the moves that follow from it, in FLOPs' time: about 0.6 ns
/// of the model `cpu`. Sorts of 10^3 to 10^6 numbers take 1 to 5.
inline constexpr double kOrderingFlops = 32;
/// The share of an element-wise op's bytes above kUnfusedBytes that is not
/// charged, as it is fused with others. By a fifth to a third MaxText's
/// optimiser updates stay where their gradients are small, and by a half the
/// chain behind logits is gathered (the sweep's `loss`, 45 times the bytes).
/// Below, starting an op takes as long as reading its tensors.
inline constexpr double kFusedShare = 0.25;
inline constexpr double kUnfusedBytes = 1 << 20;
/// How many strategies are looked at, one by one. In a larger space that was
/// seen to take seconds an op; there strategies are improved step by step.
inline constexpr int64_t kStrategyBudget = 400;
/// How many steps that takes at most.
inline constexpr int kMostSteps = 12;
/// How many of the strategies around one are priced.
inline constexpr size_t kMostPriced = 48;
/// How hard a plan is looked for that only tells a price.
inline constexpr ReshardEffort kPricingEffort = {/*states=*/5000,
                                                 /*permutesAnywhere=*/false};
/// How many of them a choice on the graph weighs.
inline constexpr size_t kMostStrategies = 10;

/// What one device does for an op.
struct OpWork {
  double flops = 0;
  /// Bytes that it has of each tensor.
  llvm::SmallVector<double, 4> touched;
  /// The price of what its windows fetch, in byte times.
  double fetchPrice = 0;
};

class RequiredLayouts;

/// Chooses for the ops on one mesh, and remembers plans and alternatives.
class OpSolver {
public:
  /// With `gathersByPrice` work may be repeated where that is cheaper.
  OpSolver(Mesh mesh, MeshCosts costs, bool gathersByPrice = true)
      : mesh(std::move(mesh)), costs(std::move(costs)),
        gathersByPrice(gathersByPrice) {}

  /// The cheapest strategy.
  FactorStrategy solve(const OpProblem &problem);
  /// The same, and what is known of it by then.
  struct Solution {
    FactorStrategy strategy;
    /// As `price` has it.
    std::optional<double> price;
    /// A device computes more than under the voted strategy.
    bool repeatsWork = false;
  };
  Solution solveWithPrice(const OpProblem &problem);
  /// What `solve` may take, its answer first, then the cheapest, at
  /// most kMostStrategies.
  const std::vector<FactorStrategy> &strategies(const OpProblem &problem);
  /// The price of a reshard in byte times; nothing if it has no plan.
  std::optional<double> priceOfReshard(const Layout &source,
                                       const Layout &target,
                                       int64_t elementBytes);
  /// The price of a strategy in byte times; nothing if some tensor has no
  /// plan, or if it is not below `limit`, which may be seen early.
  std::optional<double> price(const OpProblem &problem,
                              const FactorStrategy &strategy,
                              double limit = HUGE_VAL);
  /// The same for one of many strategies of a problem, which share
  /// `requiredLayouts`.
  std::optional<double> price(const OpProblem &problem,
                              const FactorStrategy &strategy, double limit,
                              RequiredLayouts &requiredLayouts);

  struct OtherStrategy {
    FactorStrategy strategy;
    double price = 0;
    /// It is the best of all strategies; else, where these are too many or axes
    /// of the tensors cross, of nearbyStrategies.
    bool isBest = true;
  };
  /// The cheapest lawful strategy that is not `taken`, whatever work it
  /// repeats; nothing if there is none. Remembered too.
  std::optional<OtherStrategy> alternative(const OpProblem &problem,
                                           const FactorStrategy &taken);
  /// At least the price of a strategy, without a search; infinite where that
  /// is seen to be above `limit`.
  double leastPrice(const OpProblem &problem, const FactorStrategy &strategy,
                    double limit, RequiredLayouts &requiredLayouts) const;
  /// The cheapest plan of a reshard; null if it has none. Stays valid.
  const ReshardPlan *planOfReshard(const Layout &source, const Layout &target,
                                   int64_t elementBytes);
  /// What a device does for the op under `strategy`.
  OpWork workOf(const OpProblem &problem, const FactorStrategy &strategy) const;
  /// The op's own time under `strategy`, and what its windows fetch, in byte
  /// times.
  double ownPrice(const OpProblem &problem,
                  const FactorStrategy &strategy) const;
  const MeshCosts &prices() const { return costs; }
  /// Until it is called again `solve` and prices have it so.
  void weighCompute(bool weighs) { costs.weighCompute(weighs); }
  /// Each device may compute, whole, an op of `problem` that needs dims whole.
  bool mayRepeat(const OpProblem &problem) const;

private:
  struct Hash {
    size_t operator()(const OpProblem &problem) const;
  };

  /// What a strategy asks for.
  struct Required {
    /// The reshards of tensors that do not cost nothing in any layout, by the
    /// numbers of these.
    llvm::SmallVector<std::pair<size_t, struct RequiredLayout *>, 4> reshards;
    double ownPrice;

    /// At least the price of the reshards from number `first`, and of the rest.
    double leastFrom(size_t first) const;
  };
  /// Not all of it, and `ownPrice` infinite, where the price is seen to be
  /// above `limit`.
  Required requiredOf(const OpProblem &problem, const FactorStrategy &strategy,
                      double limit, RequiredLayouts &requiredLayouts) const;
  double fetchPrice(const OpProblem &problem,
                    const FactorStrategy &strategy) const;

  Mesh mesh;
  MeshCosts costs;
  bool gathersByPrice;
  ReshardPlanner planner{kPricingEffort};
  struct Alternative {
    FactorStrategy taken;
    std::optional<OtherStrategy> next;
  };
  std::unordered_map<OpProblem, llvm::SmallVector<Alternative, 1>, Hash>
      alternatives;
  std::unordered_map<OpProblem, std::vector<FactorStrategy>, Hash>
      knownStrategies;
  mutable WindowPrices knownWindows;
};

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_OPSOLVER_H
