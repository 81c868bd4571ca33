//===- StateEvaluator.h - what a block costs --------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one price of a state: of all its ops and reshards together, where a local
// search sees what is around one value. It is kept up to date value by value,
// in the time of what is around the value and a logarithm of the block.
//
//   price   each op's compute and what its windows fetch, by the device model;
//           each reshard once, however many ops read it; what the graph asks
//           for a byte of a value (memoryPrice). A value between element-wise
//           ops that agree on it is in no memory: compilers fuse them.
//   bytes   what a device sends for these reshards.
//   peak    values from where they are made to their last use, and what ops
//           need otherwise while they run. No value is counted that a
//           neighbour computes in place, nor what an op holds in its regions.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_STATEEVALUATOR_H
#define SHARDONNAY_STRATEGY_STATEEVALUATOR_H

#include "shardonnay/strategy/StrategyState.h"
#include <optional>

namespace shardonnay {

/// Prices and bytes are those of all the times that the block runs.
struct StateCost {
  /// In byte times; infinite where a reshard has no plan.
  double price = 0;
  /// Of that, what its reshards take.
  double reshards = 0;
  /// What a device sends.
  double bytes = 0;
  /// What a device holds at once.
  int64_t peak = 0;
};

/// The largest of many numbers, to ranges of which something is added.
class RangeMaximum {
public:
  explicit RangeMaximum(size_t size);
  /// Adds to the numbers from `begin` up to `end`.
  void add(size_t begin, size_t end, int64_t amount);
  int64_t get() const { return nodes[1].maximum; }

private:
  struct Node {
    int64_t added = 0;
    int64_t maximum = 0;
  };
  void add(size_t node, size_t first, size_t size, size_t begin, size_t end,
           int64_t amount);

  size_t size;
  std::vector<Node> nodes;
};

/// A value that more ops read than this is in memory, whatever they are.
inline constexpr size_t kMostFusedUses = 16;

class StateEvaluator {
public:
  /// The state outlives this.
  explicit StateEvaluator(const StrategyState &state);

  StateCost get() const;
  /// `value` has another sharding, or another copy, or is read otherwise.
  void update(int32_t value);
  /// `op` has another strategy, reads copies or others, or its results have
  /// other shardings.
  void updateAround(int32_t op);

private:
  struct Part {
    double price = 0;
    double reshards = 0;
    double bytes = 0;
    /// Reshards without a plan.
    int64_t impossible = 0;
    /// What is alive because of it, over which ops.
    int64_t alive = 0;
    int32_t begin = 0, end = 0;
  };
  Part partOfOp(int32_t op) const;
  /// What the reshards cost that the uses of a value or a copy need.
  Part partOfValue(int32_t value) const;
  /// `value` is read and made by element-wise ops that agree on it.
  bool isFused(int32_t value) const;
  void addReshard(int32_t value, int32_t from, int32_t to, Part &part) const;
  void replace(Part &part, const Part &with);
  void updateOp(int32_t op);

  const StrategyState &state;
  const StrategyGraph &graph;
  OpStrategies &table;
  std::vector<Part> ops;
  /// The parts of values, then of copies.
  std::vector<Part> values;
  RangeMaximum alive;
  double price = 0;
  double reshards = 0;
  double bytes = 0;
  int64_t impossible = 0;
};

/// The cheapest of the states that a search comes through.
class CheapestState {
public:
  explicit CheapestState(const StrategyState &first) : cheapest(first) {}

  /// Of equal prices the later state is taken.
  void offer(const StrategyState &state);
  const StrategyState &get() const { return cheapest; }

private:
  StrategyState cheapest;
  /// Once there is another to compare it with.
  std::optional<double> price;
};

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_STATEEVALUATOR_H
