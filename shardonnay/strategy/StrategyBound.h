//===- StrategyBound.h - the least that placing axes costs ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lower bound on the price of an op's strategy that knows only which axes
// shard each factor, not in which order. A dot on three axes has hundreds of
// strategies, and nine in ten are too expensive by this bound, which takes a
// tenth of the time in which the layouts of a strategy are made. It is the sum
// of
//
//  * what the op itself costs: its FLOPs, and the bytes of its local shards;
//  * for each tensor the bound of plan/ReshardBound.h, in which a dim counts as
//    nested if one side has all axes of the other, in whatever order.
//
// A tensor that is padded otherwise outside of the op counts with its bytes
// alone.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_STRATEGYBOUND_H
#define SHARDONNAY_STRATEGY_STRATEGYBOUND_H

#include "shardonnay/strategy/OpSolver.h"

namespace shardonnay {

/// Of one problem and a list of axes, which have to outlive this.
class StrategyBound {
public:
  /// They are bits of a word.
  static constexpr size_t kMostAxes = 64;

  /// axes: do not overlap; no more than kMostAxes.
  StrategyBound(const OpProblem &problem, llvm::ArrayRef<AxisRef> axes,
                const MeshCosts &costs);

  /// What the axes at the factors make of them.
  struct Placed {
    /// The axes of each factor, as bits.
    llvm::SmallVector<uint64_t, 8> places;
    llvm::SmallVector<int64_t, 8> shards;
  };

  /// How a strategy places the axes; nothing if it has one that is not made of
  /// those of the constructor.
  std::optional<Placed> placedBy(const FactorStrategy &strategy) const;
  /// Puts axis number `axis` at `factor`, or takes it from wherever it is.
  void put(size_t axis, int32_t factor, Placed &placed) const;
  void take(size_t axis, Placed &placed) const;
  /// At least the price, in byte times, of every strategy that has these axes
  /// at each factor. `flops`: of one device. Looks no further once the bound is
  /// above `limit`.
  double least(const Placed &placed, double flops,
               double limit = HUGE_VAL) const;
  /// At least the price, in byte times, of every strategy that has the same
  /// axes as `strategy` at each factor. `flops`: of one device. 0 if there is
  /// an axis that is not made of those of the constructor.
  double least(const FactorStrategy &strategy, double flops,
               double limit = HUGE_VAL) const;

private:
  struct Dim {
    int64_t size = 0;
    llvm::ArrayRef<int32_t> factors;
    /// Outside of the op, as below.
    int64_t padded = 0;
    int64_t shards = 1;
    /// The axes that overlap one that it is sharded by.
    uint64_t places = 0;
  };
  /// An axis that a tensor is sharded by, or partial along, outside of the op.
  struct Outside {
    int64_t size = 1;
    /// The axes that it is made of; none if they are not all among `axes`.
    uint64_t places = 0;
  };
  struct Tensor {
    bool isOperand = false;
    bool free = false;
    int64_t elementBytes = 1;
    ReshardRuns runs;
    /// The whole tensor's.
    int64_t bytes = 0;
    llvm::SmallVector<Dim, 4> dims;
    /// The factors over which a result is reduced.
    llvm::SmallVector<int32_t, 2> reduced;
    llvm::SmallVector<Outside, 4> outside;
    /// The axes that those of `outside` cover.
    uint64_t covered = 0;
    /// Summands of an element outside of the op.
    int64_t parts = 1;
    /// Has an axis that has no parts in common with one of `axes`.
    bool apart = false;
  };
  void readOutside(const Layout &layout, Tensor &tensor) const;
  /// The axes that those of the list contain.
  uint64_t placesOf(const AxisList &list) const;
  int64_t sizeOf(uint64_t places) const;
  /// The bound on the reshard of a tensor; adds to `elements` what a device has
  /// of it.
  double leastReshard(const Tensor &tensor, const Placed &placed,
                      double &elements) const;

  const OpProblem &problem;
  llvm::ArrayRef<AxisRef> axes;
  const MeshCosts &costs;
  /// The largest first, which tells most.
  llvm::SmallVector<Tensor, 4> tensors;
};

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_STRATEGYBOUND_H
