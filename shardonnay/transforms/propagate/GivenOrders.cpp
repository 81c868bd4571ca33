//===- GivenOrders.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/GivenOrders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace shardonnay {

GivenOrders::GivenOrders(const PropagationGraph &graph,
                         const GraphWeights &weights)
    : graph(graph), weights(weights), groups(graph) {
  llvm::MapVector<MeshAxis, Rivals> byAxis;
  for (int32_t tensor : llvm::seq(graph.numTensors()))
    for (auto [number, dim] : llvm::enumerate(graph.sharding(tensor).dims))
      for (AxisRef axis : dim.axes) {
        MeshAxis meshAxis{graph.mesh(tensor), axis.axis};
        given.push_back({{tensor, static_cast<int64_t>(number)}, meshAxis});
        byAxis[meshAxis][groups.groupOf(tensor, number)] +=
            weights.bytes[tensor];
      }
  byAxis.remove_if([](const auto &entry) { return entry.second.size() < 2; });
  if (!byAxis.empty())
    rank(byAxis);
}

void GivenOrders::rank(const llvm::MapVector<MeshAxis, Rivals> &byAxis) {
  llvm::DenseMap<int32_t, double> costs;
  for (const auto &[axis, ofAxis] : byAxis)
    for (const auto &[group, bytes] : ofAxis)
      costs[group] = 0;
  readCosts(costs);
  for (const auto &[axis, ofAxis] : byAxis) {
    double bytes = 0;
    for (const auto &[group, ofGroup] : ofAxis)
      bytes += ofGroup;
    llvm::SmallVector<std::pair<double, int32_t>> ranked;
    for (const auto &[group, ofGroup] : ofAxis)
      ranked.push_back({costs.at(group) + 2 * (bytes - ofGroup), group});
    llvm::sort(ranked);
    for (auto [cost, group] : ranked)
      rivals[axis].push_back(group);
  }
}

size_t GivenOrders::size() const {
  size_t most = 0;
  for (const auto &[axis, ranked] : rivals)
    most = std::max(most, ranked.size());
  return most;
}

int32_t GivenOrders::firstGroup(MeshAxis axis, size_t order) const {
  const auto *ranked = rivals.find(axis);
  if (ranked == rivals.end())
    return kNone;
  return ranked->second[std::min(order, ranked->second.size() - 1)];
}

/// A dim is later if all of its axes are.
std::vector<GivenDim> GivenOrders::findLater(size_t order) const {
  std::vector<GivenDim> later;
  for (size_t i = 0; i < given.size();) {
    GivenDim dim = given[i].first;
    bool isLater = true;
    for (; i < given.size() && given[i].first == dim; ++i) {
      int32_t first = firstGroup(given[i].second, order);
      isLater &= first != kNone && first != groups.groupOf(dim.tensor, dim.dim);
    }
    if (isLater)
      later.push_back(dim);
  }
  return later;
}

void GivenOrders::readCosts(llvm::DenseMap<int32_t, double> &costs) const {
  for (int32_t op : llvm::seq(graph.ops().size())) {
    const FactorRule &rule = *graph.form(graph.ops().form(op)).rule;
    for (auto [number, factor] : llvm::enumerate(rule.factors)) {
      if (factor.kind == FactorKind::PassThrough)
        continue;
      if (auto cost = costs.find(groupOf(op, number)); cost != costs.end())
        cost->second += weights.runs[op] * costAt(op, number);
    }
  }
}

int32_t GivenOrders::groupOf(int32_t op, int32_t factor) const {
  const FactorRule &rule = *graph.form(graph.ops().form(op)).rule;
  for (auto [i, tensor] : llvm::enumerate(graph.ops().tensors(op)))
    if (int64_t dim = rule.tensor(i).dimOf(factor); tensor != kNone && dim >= 0)
      return groups.groupOf(tensor, dim);
  return kNone;
}

double GivenOrders::costAt(int32_t op, int32_t factor) const {
  const FactorRule &rule = *graph.form(graph.ops().form(op)).rule;
  // A window fetches few rows from its neighbours.
  if (rule.factors[factor].kind == FactorKind::Windowed)
    return 0;
  double ofResults = 0, ofHolders = 0;
  for (auto [i, tensor] : llvm::enumerate(graph.ops().tensors(op))) {
    if (tensor == kNone)
      continue;
    if (i >= rule.operands.size())
      ofResults += weights.bytes[tensor];
    if (rule.tensor(i).has(factor))
      ofHolders += weights.bytes[tensor];
  }
  return rule.reducesOver(factor) ? 2 * ofResults : ofHolders;
}

double GivenOrders::shareOfResults(
    llvm::function_ref<bool(int32_t tensor)> counts) const {
  double all = 0, counted = 0;
  for (int32_t op : llvm::seq(graph.ops().size())) {
    size_t numOperands = graph.form(graph.ops().form(op)).rule->operands.size();
    for (auto [i, tensor] : llvm::enumerate(graph.ops().tensors(op))) {
      if (tensor == kNone || i < numOperands)
        continue;
      double bytes = weights.runs[op] * weights.bytes[tensor];
      all += bytes;
      if (counts(tensor))
        counted += bytes;
    }
  }
  return all > 0 ? counted / all : 0;
}

bool GivenOrders::isContested(int32_t tensor, size_t order) const {
  const TensorSharding &sharding = graph.sharding(tensor);
  for (const auto &[meshAxis, ranked] : rivals) {
    auto [mesh, axis] = meshAxis;
    if (graph.mesh(tensor) != mesh)
      continue;
    int32_t group = firstGroup(meshAxis, order);
    bool hasGroup = false, hasAxis = false;
    for (auto [number, dim] : llvm::enumerate(sharding.dims)) {
      if (groups.groupOf(tensor, number) != group)
        continue;
      hasGroup = true;
      for (AxisRef other : dim.axes)
        hasAxis |= other.axis == axis;
    }
    if (hasGroup && !hasAxis)
      return true;
  }
  return false;
}

double GivenOrders::contestedShare(size_t order) const {
  return shareOfResults(
      [&](int32_t tensor) { return isContested(tensor, order); });
}

double GivenOrders::differingShare(llvm::ArrayRef<int32_t> before,
                                   llvm::ArrayRef<int32_t> after) const {
  return shareOfResults([&](int32_t tensor) {
    return before[tensor] != after[tensor] &&
           axesDiffer(graph.shardingOf(before[tensor]).sharding,
                      graph.shardingOf(after[tensor]).sharding);
  });
}

} // namespace shardonnay
