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

/// Orders are made around so many groups that are cheap and so many that have
/// many rivals.
constexpr size_t kSeeds = 8;

GivenOrders::GivenOrders(const PropagationGraph &graph,
                         const GraphWeights &weights, size_t most)
    : graph(graph), weights(weights), groups(graph) {
  readGiven();
  axes.remove_if(
      [](const auto &axis) { return axis.second.groups.size() < 2; });
  if (axes.empty())
    return;
  llvm::DenseMap<int32_t, Uses> uses = readUses();
  for (auto &[axis, ofAxis] : axes) {
    weigh(ofAxis, uses);
    ofAxis.groups.remove_if(
        [](const auto &entry) { return entry.second.rivals.empty(); });
  }
  axes.remove_if([](const auto &axis) { return axis.second.groups.empty(); });
  for (auto &[axis, ofAxis] : axes)
    order(ofAxis, most);
}

void GivenOrders::readGiven() {
  for (int32_t tensor : llvm::seq(graph.numTensors()))
    for (auto [number, dim] : llvm::enumerate(graph.sharding(tensor).dims))
      for (AxisRef axis : dim.axes) {
        MeshAxis meshAxis{graph.mesh(tensor), axis.axis};
        given.push_back({{tensor, static_cast<int64_t>(number)}, meshAxis});
        axes[meshAxis].groups[groups.groupOf(tensor, number)].bytes +=
            weights.bytes[tensor];
      }
}

llvm::DenseMap<int32_t, GivenOrders::Uses> GivenOrders::readUses() const {
  llvm::DenseMap<int32_t, Uses> uses;
  for (const auto &[axis, ofAxis] : axes)
    for (const auto &[group, rival] : ofAxis.groups)
      uses[group];
  for (int32_t op : llvm::seq(graph.ops().size()))
    readOp(op, uses);
  return uses;
}

void GivenOrders::readOp(int32_t op,
                         llvm::DenseMap<int32_t, Uses> &uses) const {
  const FactorRule &rule = *graph.form(graph.ops().form(op)).rule;
  llvm::SmallVector<std::pair<int32_t, Uses *>> read;
  for (auto [number, factor] : llvm::enumerate(rule.factors)) {
    auto group = uses.find(groupOf(op, number));
    if (group == uses.end())
      continue;
    read.push_back({group->first, &group->second});
    if (factor.kind != FactorKind::PassThrough)
      group->second.cost += weights.runs[op] * costAt(op, number);
  }
  for (auto [group, ofGroup] : read)
    for (auto [other, ofOther] : read)
      if (other != group)
        ofGroup->neighbors.insert(other);
}

void GivenOrders::weigh(Rivals &ofAxis,
                        const llvm::DenseMap<int32_t, Uses> &uses) const {
  for (auto &[group, rival] : ofAxis.groups) {
    const Uses &ofGroup = uses.at(group);
    rival.cost = ofGroup.cost;
    for (int32_t other : ofGroup.neighbors) {
      auto *found = ofAxis.groups.find(other);
      if (found == ofAxis.groups.end())
        continue;
      rival.rivals.push_back(other);
      rival.bytesOfRivals += found->second.bytes;
    }
  }
}

GivenOrders::Groups
GivenOrders::Rivals::around(int32_t seed,
                            llvm::ArrayRef<int32_t> ranked) const {
  Groups first, later;
  auto add = [&](int32_t group) {
    first.insert(group);
    const Rival &rival = groups.find(group)->second;
    later.insert(rival.rivals.begin(), rival.rivals.end());
  };
  add(seed);
  for (int32_t group : ranked)
    if (!first.contains(group) && !later.contains(group))
      add(group);
  return first;
}

double GivenOrders::Rivals::costOf(const Groups &first) const {
  double cost = 0;
  for (const auto &[group, rival] : groups)
    cost += first.contains(group) ? rival.cost : 2 * rival.bytes;
  return cost;
}

std::vector<double>
GivenOrders::bytesMadeWhole(llvm::ArrayRef<Groups> orders) const {
  std::vector<uint32_t> ordersOf(groups.size());
  for (auto [order, first] : llvm::enumerate(orders))
    for (int32_t group : first)
      ordersOf[group] |= uint32_t(1) << order;
  std::vector<double> bytes(orders.size());
  forEachResult([&](int32_t tensor, double ofResult) {
    uint32_t sharding = 0;
    for (size_t dim : llvm::seq(graph.sharding(tensor).dims.size()))
      sharding |= ordersOf[groups.groupOf(tensor, dim)];
    for (size_t order : llvm::seq(orders.size()))
      if (!(sharding >> order & 1))
        bytes[order] += ofResult;
  });
  return bytes;
}

llvm::SmallVector<int32_t> GivenOrders::Rivals::ranked(
    llvm::function_ref<double(const Rival &rival)> rank) const {
  llvm::SmallVector<int32_t> list;
  for (const auto &[group, rival] : groups)
    list.push_back(group);
  llvm::sort(list, [&](int32_t a, int32_t b) {
    return std::pair(rank(groups.find(a)->second), a) <
           std::pair(rank(groups.find(b)->second), b);
  });
  return list;
}

void GivenOrders::order(Rivals &ofAxis, size_t most) const {
  auto byPrice = ofAxis.ranked(
      [](const Rival &rival) { return rival.cost + 2 * rival.bytesOfRivals; });
  auto byRivals = ofAxis.ranked(
      [](const Rival &rival) { return -double(rival.rivals.size()); });
  std::vector<Groups> orders;
  for (llvm::ArrayRef<int32_t> seeds : {byPrice, byRivals})
    for (int32_t seed : seeds.take_front(kSeeds))
      if (Groups first = ofAxis.around(seed, byPrice);
          !llvm::is_contained(orders, first))
        orders.push_back(std::move(first));
  std::vector<std::pair<double, size_t>> costs;
  for (auto [order, bytes] : llvm::enumerate(bytesMadeWhole(orders)))
    costs.push_back({ofAxis.costOf(orders[order]) + 2 * bytes, order});
  llvm::sort(costs);
  for (auto [cost, order] : llvm::ArrayRef(costs).take_front(most))
    ofAxis.orders.push_back(std::move(orders[order]));
}

size_t GivenOrders::size() const {
  size_t most = 0;
  for (const auto &[axis, ofAxis] : axes)
    most = std::max(most, ofAxis.orders.size());
  return most;
}

std::optional<bool> GivenOrders::Rivals::comesFirst(int32_t group,
                                                    size_t order) const {
  if (!groups.contains(group))
    return std::nullopt;
  return orders[std::min(order, orders.size() - 1)].contains(group);
}

/// A dim is later if all of its axes are at which it has rivals.
std::vector<GivenDim> GivenOrders::findLater(size_t order) const {
  std::vector<GivenDim> later;
  for (size_t i = 0; i < given.size();) {
    GivenDim dim = given[i].first;
    bool hasRivals = false, isFirst = false;
    for (; i < given.size() && given[i].first == dim; ++i) {
      const auto *ofAxis = axes.find(given[i].second);
      if (ofAxis == axes.end())
        continue;
      std::optional<bool> comesFirst =
          ofAxis->second.comesFirst(groups.groupOf(dim.tensor, dim.dim), order);
      hasRivals |= comesFirst.has_value();
      isFirst |= comesFirst == true;
    }
    if (hasRivals && !isFirst)
      later.push_back(dim);
  }
  return later;
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

void GivenOrders::forEachResult(
    llvm::function_ref<void(int32_t tensor, double bytes)> run) const {
  for (int32_t op : llvm::seq(graph.ops().size())) {
    size_t numOperands = graph.form(graph.ops().form(op)).rule->operands.size();
    for (auto [i, tensor] : llvm::enumerate(graph.ops().tensors(op)))
      if (tensor != kNone && i >= numOperands)
        run(tensor, weights.runs[op] * weights.bytes[tensor]);
  }
}

double GivenOrders::shareOfResults(
    llvm::function_ref<bool(int32_t tensor)> counts) const {
  double all = 0, counted = 0;
  forEachResult([&](int32_t tensor, double bytes) {
    all += bytes;
    if (counts(tensor))
      counted += bytes;
  });
  return all > 0 ? counted / all : 0;
}

bool GivenOrders::isContested(int32_t tensor, size_t order) const {
  const TensorSharding &sharding = graph.sharding(tensor);
  for (const auto &[meshAxis, ofAxis] : axes) {
    auto [mesh, axis] = meshAxis;
    if (graph.mesh(tensor) != mesh)
      continue;
    bool comesFirst = false, hasAxis = false;
    for (auto [number, dim] : llvm::enumerate(sharding.dims)) {
      if (ofAxis.comesFirst(groups.groupOf(tensor, number), order) != true)
        continue;
      comesFirst = true;
      for (AxisRef other : dim.axes)
        hasAxis |= other.axis == axis;
    }
    if (comesFirst && !hasAxis)
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
