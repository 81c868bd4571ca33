//===- LocalCollective.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/LocalCollective.h"

#include "shardonnay/algebra/Counts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace shardonnay {

double LocalCollective::price(const MeshCosts &costs) const {
  SmallVector<int64_t> numbers;
  for (AxisRef axis : axes)
    numbers.push_back(axis.axis);
  return costs.price(cost, numbers);
}

/// Of an unnamed problem, of one byte a position; the axes are those of it.
static std::optional<LocalCollective>
sumOfWindows(const WindowProblem &problem) {
  if (problem.axes.empty())
    return std::nullopt;
  LocalCollective sum;
  sum.count = 0;
  for (const WindowProblem &part : withoutUnevenPeriods(problem)) {
    WindowCost cost = costOfWindows(part);
    CollectiveKind kind =
        cost.gathers ? CollectiveKind::AllGather : CollectiveKind::Permute;
    if (cost.gathers)
      sum.kind = kind;
    sum.count += cost.collectives;
    sum.cost.bytes = countSum(sum.cost.bytes, cost.received);
    sum.cost.steps +=
        cost.collectives * collectiveCost(kind, part.axes.numShards(), 1).steps;
  }
  return sum.count == 0 ? std::nullopt : std::optional(sum);
}

static std::optional<LocalCollective> scaled(std::optional<LocalCollective> sum,
                                             const AxisList &axes,
                                             int64_t sliceBytes) {
  if (sum) {
    sum->axes = axes;
    sum->cost.bytes = countProduct(sum->cost.bytes, sliceBytes);
  }
  return sum;
}

std::optional<LocalCollective> windowCollective(const WindowProblem &problem,
                                                int64_t sliceBytes) {
  return scaled(sumOfWindows(withoutNames(problem)), problem.axes, sliceBytes);
}

std::optional<LocalCollective> WindowPrices::find(const WindowProblem &problem,
                                                  int64_t sliceBytes) {
  WindowProblem unnamed = withoutNames(problem);
  SmallVector<int64_t, 16> key = {unnamed.localSize, unnamed.globalSize,
                                  unnamed.start,     unnamed.step,
                                  unnamed.size,      unnamed.periodic};
  append_range(key, unnamed.mesh.axisSizes());
  for (const AxisList *axes : {&unnamed.axes, &unnamed.windowAxes}) {
    key.push_back(axes->size());
    for (AxisRef axis : *axes)
      key.append({axis.axis, axis.pre, axis.size});
  }
  auto [entry, isNew] = known.try_emplace(std::move(key));
  if (isNew)
    entry->second = sumOfWindows(unnamed);
  return scaled(entry->second, problem.axes, sliceBytes);
}

/// The local size of a dim of `size` that `factors` make up.
static int64_t shardSize(int64_t size, const DimFactors &factors,
                         ArrayRef<AxisList> factorAxes) {
  int64_t shards = 1;
  for (int32_t factor : factors)
    shards *= factorAxes[factor].numShards();
  return divideCeil(size, shards);
}

/// A result that has an exchanged factor goes with one position of it.
static std::optional<LocalCollective>
exchangeCollective(const FactorRule &rule, ArrayRef<AxisList> factorAxes,
                   const TensorMapping &result, ArrayRef<int64_t> shape,
                   int64_t elementBytes) {
  LocalCollective gather;
  gather.kind = CollectiveKind::AllGather;
  for (auto [factor, axes] : zip_equal(rule.factors, factorAxes))
    if (factor.exchanged)
      gather.axes.append(axes);
  if (gather.axes.empty())
    return std::nullopt;
  int64_t bytes = elementBytes;
  for (auto [size, factors] : zip_equal(shape, result.dims)) {
    if (any_of(factors, [&](int32_t f) { return rule.factors[f].exchanged; }))
      continue;
    bytes = countProduct(bytes, shardSize(size, factors, factorAxes));
  }
  gather.cost = collectiveCost(gather.kind, gather.axes.numShards(), bytes);
  return gather;
}

static std::optional<LocalCollective>
sumCollective(const FactorRule &rule, const FactorSum &sum,
              ArrayRef<AxisList> factorAxes, ArrayRef<int64_t> shape,
              const AxisList &deviceAxes) {
  const TensorMapping &tensor = rule.tensor(sum.tensor);
  LocalCollective reduce;
  reduce.kind = CollectiveKind::AllReduce;
  int64_t bytes = sum.elementBytes;
  if (sum.isWhole) {
    reduce.axes = deviceAxes;
    for (int64_t size : shape)
      bytes = countProduct(bytes, size);
  } else {
    for (size_t factor = 0; factor < rule.factors.size(); ++factor)
      if (!tensor.has(factor))
        reduce.axes.append(factorAxes[factor]);
    for (auto [size, factors] : zip_equal(shape, tensor.dims))
      bytes = countProduct(bytes, shardSize(size, factors, factorAxes));
  }
  if (reduce.axes.empty())
    return std::nullopt;
  reduce.cost = collectiveCost(reduce.kind, reduce.axes.numShards(), bytes);
  return reduce;
}

/// The sizes of what a device has of a tensor before its windows are fetched:
/// of dims that are sharded anew, what the op makes of them.
static SmallVector<int64_t> madeShards(const FactorRule &rule, int32_t tensor,
                                       ArrayRef<AxisList> factorAxes,
                                       ArrayRef<ArrayRef<int64_t>> shapes) {
  SmallVector<int64_t> shard;
  for (auto [size, factors] :
       zip_equal(shapes[tensor], rule.tensor(tensor).dims))
    shard.push_back(shardSize(size, factors, factorAxes));
  for (const FactorWindow &window : rule.windows) {
    int64_t shards = factorAxes[window.factor].numShards();
    if (window.tensor == tensor && window.kind == WindowKind::Retiled &&
        rule.isFetched(window, shards))
      shard[rule.tensor(tensor).dimOf(window.factor)] =
          divideCeil(window.count, shards) * window.stride;
  }
  return shard;
}

SmallVector<LocalCollective, 2> fetchCollectives(
    const Mesh &mesh, const FactorRule &rule, ArrayRef<AxisList> factorAxes,
    ArrayRef<ArrayRef<int64_t>> shapes, ArrayRef<int64_t> elementBytes,
    const AxisList &deviceAxes, WindowPricer pricer) {
  SmallVector<LocalCollective, 2> collectives;
  for (const FactorSum &sum : rule.sums)
    if (auto reduce = sumCollective(rule, sum, factorAxes, shapes[sum.tensor],
                                    deviceAxes))
      collectives.push_back(*reduce);
  // What a device has of each tensor so far; empty if nothing was fetched.
  SmallVector<SmallVector<int64_t>> parts(rule.numTensors());
  for (const FactorWindow &window : rule.windows) {
    const AxisList &axes = factorAxes[window.factor];
    if (!rule.isFetched(window, axes.numShards()))
      continue;
    SmallVector<int64_t> &shard = parts[window.tensor];
    if (shard.empty())
      shard = madeShards(rule, window.tensor, factorAxes, shapes);
    int64_t dim = rule.tensor(window.tensor).dimOf(window.factor);
    ShardWindow sharded = shardWindow(window, axes.numShards(), shard[dim]);
    int64_t sliceBytes = elementBytes[window.tensor];
    for (auto [other, size] : enumerate(shard))
      if (static_cast<int64_t>(other) != dim)
        sliceBytes = countProduct(sliceBytes, size);
    WindowProblem problem{mesh,
                          axes,
                          axes,
                          sharded.localSize,
                          sharded.globalSize,
                          sharded.start,
                          sharded.step,
                          sharded.size,
                          window.periodic};
    if (auto collective = pricer(window, problem, sliceBytes))
      collectives.push_back(*collective);
    shard[dim] = sharded.size;
  }
  for (int64_t i = rule.operands.size(); i < rule.numTensors(); ++i)
    if (auto gather = exchangeCollective(rule, factorAxes, rule.tensor(i),
                                         shapes[i], elementBytes[i]))
      collectives.push_back(*gather);
  return collectives;
}

} // namespace shardonnay
