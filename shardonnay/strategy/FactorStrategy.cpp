//===- FactorStrategy.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/FactorStrategy.h"

#include "shardonnay/algebra/Counts.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <tuple>

using namespace llvm;

namespace shardonnay {

bool canBeSharded(const Factor &factor) {
  return factor.kind != FactorKind::NeedReplication;
}

std::optional<int64_t> findUnshardedDim(const FactorRule &rule, int64_t operand,
                                        const TensorSharding &sharding) {
  const TensorMapping &mapping = rule.operands[operand];
  TensorProjection row = project(sharding, mapping, rule.factors);
  for (auto [dim, factors] : enumerate(mapping.dims))
    for (int32_t factor : factors)
      if (!canBeSharded(rule.factors[factor]) &&
          !row.factors[factor].axes.empty())
        return dim;
  return std::nullopt;
}

/// In every dim only the last sharded factor is sharded incompletely.
static bool hasNoStridedSharding(ArrayRef<int64_t> shards,
                                 const FactorRule &rule,
                                 const TensorMapping &tensor) {
  for (const DimFactors &factors : tensor.dims) {
    if (factors.size() < 2)
      continue;
    bool complete = true;
    for (int32_t factor : factors) {
      if (!complete && shards[factor] != 1)
        return false;
      complete &= shards[factor] == rule.factors[factor].size;
    }
  }
  return true;
}

SmallVector<int64_t, 8> shardsOf(const FactorStrategy &strategy) {
  return map_to_vector<8>(
      strategy, [](const AxisList &axes) { return axes.numShards(); });
}

bool mayHaveShards(ArrayRef<int64_t> shards, const FactorRule &rule) {
  std::optional<ReductionKind> combiner;
  for (auto [f, count] : enumerate(shards)) {
    const Factor &factor = rule.factors[f];
    if (count == 1)
      continue;
    if (!canBeSharded(factor) || factor.size % count != 0)
      return false;
    if (!rule.reducesOver(f))
      continue;
    if (combiner && *combiner != factor.combiner)
      return false;
    combiner = factor.combiner;
  }
  auto isLawful = [&](const TensorMapping &tensor) {
    return hasNoStridedSharding(shards, rule, tensor);
  };
  return all_of(rule.operands, isLawful) && all_of(rule.results, isLawful);
}

bool isLawful(const FactorStrategy &strategy, const FactorRule &rule) {
  SmallVector<AxisRef, 8> used;
  for (const AxisList &axes : strategy)
    for (AxisRef axis : axes) {
      if (any_of(used, [&](AxisRef other) { return axis.excludes(other); }))
        return false;
      used.push_back(axis);
    }
  return mayHaveShards(shardsOf(strategy), rule);
}

std::vector<FactorStrategy> nearbyStrategies(const FactorRule &rule,
                                             ArrayRef<VoteTensor> tensors,
                                             const FactorStrategy &taken) {
  std::vector<FactorStrategy> shardings;
  auto add = [&](FactorStrategy sharded) {
    if (sharded != taken && isLawful(sharded, rule) &&
        !is_contained(shardings, sharded))
      shardings.push_back(std::move(sharded));
  };
  add(FactorStrategy(taken.size()));
  for (size_t from = 0; from < taken.size(); ++from) {
    FactorStrategy without = taken;
    without[from] = AxisList();
    add(without);
    for (size_t to = 0; to < taken.size(); ++to) {
      FactorStrategy moved = without;
      moved[to].append(taken[from]);
      add(std::move(moved));
    }
  }
  for (const VoteTensor &tensor : tensors)
    add(map_to_vector<6>(tensor.row.factors,
                         [](const FactorSharding &cell) { return cell.axes; }));
  return shardings;
}

TensorSharding shardingUnder(const FactorStrategy &strategy,
                             const FactorRule &rule, int64_t tensor) {
  const TensorMapping &mapping = rule.tensor(tensor);
  TensorSharding sharding = TensorSharding::fullyClosed(mapping.dims.size());
  for (auto [dim, factors] : zip_equal(sharding.dims, mapping.dims))
    for (int32_t factor : factors)
      dim.axes.append(strategy[factor]);
  if (tensor < static_cast<int64_t>(rule.operands.size()))
    return sharding;
  for (int32_t f = 0, e = strategy.size(); f < e; ++f) {
    if (strategy[f].empty() || !rule.reducesOver(f))
      continue;
    sharding.unreduced.append(strategy[f]);
    sharding.kind = rule.factors[f].combiner;
  }
  sharding.unreduced = sharding.unreduced.sorted();
  return sharding;
}

} // namespace shardonnay
