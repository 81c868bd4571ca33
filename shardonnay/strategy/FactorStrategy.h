//===- FactorStrategy.h - which axes shard each loop of an op ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op has one iteration space, the product of its factors, and the devices
// divide it: every factor is sharded by a list of axes, and no axis shards two
// factors. The operands and results of an op may ask for different shardings
// (each has one, seen by factor as a row of the projection); a strategy
// decides them, and what disagrees with it is resharded.
//
// Laws of every strategy: the shards of a factor divide its size, unless it
// stands alone in its dims; no axis shards two factors, and the parts of an
// axis coexist; need-replication factors are whole; in a tensor's dim only the
// last sharded factor is sharded incompletely, so every tensor can state the
// strategy as a sharding; reducing factors that are sharded have one combiner.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_FACTORSTRATEGY_H
#define SHARDONNAY_STRATEGY_FACTORSTRATEGY_H

#include "shardonnay/algebra/Projection.h"
#include "llvm/ADT/Hashing.h"

namespace shardonnay {

/// What one operand or result asks for.
struct VoteTensor {
  TensorProjection row;
  /// The size of the whole tensor.
  int64_t bytes = 0;
  /// Takes any sharding at no cost (a constant): has no vote.
  bool free = false;
};

/// The axes that shard each factor, indexed by factor.
using FactorStrategy = llvm::SmallVector<AxisList, 6>;

inline llvm::hash_code hash_value(const FactorStrategy &strategy) {
  return llvm::hash_combine_range(strategy);
}

/// Lawful strategies that differ from `taken` in one thing: nothing is sharded,
/// or one factor is whole, or its axes shard another one; and how each of
/// `tensors` is sharded.
std::vector<FactorStrategy> nearbyStrategies(const FactorRule &rule,
                                             llvm::ArrayRef<VoteTensor> tensors,
                                             const FactorStrategy &taken);

/// Of each factor.
llvm::SmallVector<int64_t, 8> shardsOf(const FactorStrategy &strategy);
/// The laws above hold of a strategy that has so many shards of each factor, by
/// axes that do not overlap.
bool mayHaveShards(llvm::ArrayRef<int64_t> shards, const FactorRule &rule);
/// The laws above hold.
bool isLawful(const FactorStrategy &strategy, const FactorRule &rule);

/// The op can be computed with `factor` sharded.
bool canBeSharded(const Factor &factor);
/// The first dim of operand number `operand` that `sharding` shards along a
/// factor that can't be sharded; nothing if there is none.
std::optional<int64_t> findUnshardedDim(const FactorRule &rule, int64_t operand,
                                        const TensorSharding &sharding);

/// The closed sharding of tensor number `tensor` under `strategy`; results
/// are partial (`unreduced`) along the axes of the factors that the op reduces
/// over.
TensorSharding shardingUnder(const FactorStrategy &strategy,
                             const FactorRule &rule, int64_t tensor);

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_FACTORSTRATEGY_H
