//===- UnevenPlansTest.cpp - plans by what devices really hold ------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pairs of layouts of tensors whose sizes do not divide. The plan costs what
// the cheapest way costs that Dijkstra's algorithm finds over all placements of
// the mesh's smallest parts; the two share what playing one step on a device's
// shard costs (PricedShard.h), and nothing else.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/PricedShard.h"
#include "shardonnay/plan/ReshardPlan.h"
#include "shardonnay/plan/SliceMapsTesting.h"
#include <gtest/gtest.h>
#include <random>

using namespace shardonnay;

namespace {

using Atoms = std::vector<int>;
/// The atoms that shard each dim, and last those that the tensor is partial
/// along.
using State = std::vector<Atoms>;

uint32_t bitsOf(const Atoms &list) {
  uint32_t bits = 0;
  for (int atom : list)
    bits |= 1u << atom;
  return bits;
}

uint32_t bitsOf(const State &state) {
  uint32_t bits = 0;
  for (const Atoms &list : state)
    bits |= bitsOf(list);
  return bits;
}

State without(State state, uint32_t parts) {
  llvm::erase_if(state.back(), [&](int atom) { return parts & (1u << atom); });
  return state;
}

class RealSearch {
public:
  RealSearch(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, MeshCosts costs)
      : mesh(mesh), shape(shape), costs(std::move(costs)),
        parts(SliceMaps(mesh, std::vector<int64_t>(shape.size(), 1), {})
                  .getAtoms()
                  .vec()) {
    addTuples({});
    State state(shape.size() + 1);
    place(state, 0);
  }

  /// On no way larger than both, or else than `most`.
  double cheapest(const State &source, const State &target, int64_t most);
  /// Nothing if the sizes divide, else the price. `most` is what some plan has
  /// on a device.
  std::optional<double> planned(const State &source, const State &target,
                                int64_t &most, std::string &text);

  std::vector<State> states;

private:
  void addTuples(const Atoms &list) {
    tuples.push_back(list);
    for (int atom = 0; atom < static_cast<int>(parts.size()); ++atom) {
      if (llvm::is_contained(list, atom))
        continue;
      Atoms longer = list;
      longer.push_back(atom);
      addTuples(longer);
    }
  }
  void place(State &state, size_t dim) {
    if (dim == state.size()) {
      states.push_back(state);
      return;
    }
    for (const Atoms &list : tuples) {
      bool isPartial = dim + 1 == state.size();
      if ((bitsOf(list) & bitsOf(state)) ||
          (isPartial && !llvm::is_sorted(list)))
        continue;
      state[dim] = list;
      place(state, dim + 1);
      state[dim].clear();
    }
  }
  AxisList axes(const Atoms &list) const {
    AxisList result;
    for (int atom : list)
      result.append(parts[atom]);
    return result;
  }
  std::vector<AxisList> dims(const State &state) const {
    std::vector<AxisList> result;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      result.push_back(axes(state[dim]));
    return result;
  }
  Layout layout(const State &state) const {
    TensorSharding sharding = TensorSharding::fullyClosed(shape.size());
    for (auto [to, list] : llvm::zip(sharding.dims, state))
      to.axes = axes(list);
    sharding.unreduced = axes(state.back()).sorted();
    return Layout::get(sharding, shape);
  }
  int64_t elements(const State &state) const {
    int64_t product = 1;
    for (auto [size, list] : llvm::zip(shape, state))
      product *= llvm::divideCeil(size, axes(list).numShards());
    return product;
  }

  /// The way to `to` by what `act` does to a shard of `open`.
  void step(State to, llvm::function_ref<void(PricedShard &)> act);
  void expand();
  void expandTuple(size_t dim, const Atoms &list);
  void expandSuffixes(size_t dim);
  void permuteFrom(State &next, size_t dim, uint32_t free);

  Mesh mesh;
  llvm::ArrayRef<int64_t> shape;
  MeshCosts costs;
  std::vector<AxisRef> parts;
  std::vector<Atoms> tuples;
  WindowPrices windows;

  // Of one search.
  using Entry = std::pair<double, State>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::map<State, double> prices;
  State open;
  double price = 0;
  int64_t mostElements = 0;
  /// What shards the target, and what it is partial along.
  uint32_t targetShards = 0, targetParts = 0;
};

void RealSearch::step(State to, llvm::function_ref<void(PricedShard &)> act) {
  if (elements(to) > mostElements)
    return;
  PricedShard shard(mesh, dims(open), shape, 4, &windows);
  act(shard);
  double next = price;
  for (const LocalCollective &collective : shard.collectives())
    next += collective.price(costs);
  auto [known, isNew] = prices.try_emplace(to, next);
  if (!isNew && known->second <= next)
    return;
  known->second = next;
  queue.push({next, std::move(to)});
}

void RealSearch::expandTuple(size_t dim, const Atoms &list) {
  uint32_t bits = bitsOf(list);
  if (bits == 0)
    return;
  State longer = open;
  longer[dim].insert(longer[dim].end(), list.begin(), list.end());
  if (!(bits & bitsOf(open)) && !(bits & ~targetShards))
    step(longer, [&](PricedShard &shard) { shard.allSlice(dim, axes(list)); });
  if ((bits & ~bitsOf(open.back())) || (bits & targetParts))
    return;
  step(without(longer, bits), [&](PricedShard &shard) {
    shard.reduceScatter(dim, axes(list), ReductionKind::Sum);
  });
  step(without(open, bits), [&](PricedShard &shard) {
    shard.allReduce(axes(list).sorted(), ReductionKind::Sum);
  });
}

void RealSearch::expandSuffixes(size_t dim) {
  for (size_t count = 1; count <= open[dim].size(); ++count) {
    Atoms suffix(open[dim].end() - count, open[dim].end());
    State shorter = open;
    shorter[dim].resize(open[dim].size() - count);
    step(shorter,
         [&](PricedShard &shard) { shard.allGather(dim, axes(suffix)); });
    for (size_t to = 0; to < shape.size(); ++to) {
      if (to == dim)
        continue;
      State moved = shorter;
      moved[to].insert(moved[to].end(), suffix.begin(), suffix.end());
      step(moved,
           [&](PricedShard &shard) { shard.allToAll(dim, to, axes(suffix)); });
    }
  }
}

void RealSearch::permuteFrom(State &next, size_t dim, uint32_t free) {
  if (dim == shape.size()) {
    if (next != open)
      step(next, [&](PricedShard &shard) { shard.permute(dims(next)); });
    return;
  }
  for (const Atoms &list : tuples) {
    if ((bitsOf(list) & ~free) ||
        axes(list).numShards() != axes(open[dim]).numShards())
      continue;
    next[dim] = list;
    permuteFrom(next, dim + 1, free & ~bitsOf(list));
  }
}

void RealSearch::expand() {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    for (const Atoms &list : tuples)
      expandTuple(dim, list);
    expandSuffixes(dim);
  }
  State next = open;
  permuteFrom(next, 0, (bitsOf(open) | targetShards) & ~bitsOf(open.back()));
}

double RealSearch::cheapest(const State &source, const State &target,
                            int64_t most) {
  targetParts = bitsOf(target.back());
  targetShards = bitsOf(target) & ~targetParts;
  for (int64_t limit : {std::max(elements(source), elements(target)), most}) {
    mostElements = limit;
    queue = {};
    prices = {{source, 0}};
    queue.push({0, source});
    while (!queue.empty()) {
      std::tie(price, open) = queue.top();
      queue.pop();
      if (open == target)
        return price;
      if (price <= prices[open])
        expand();
    }
  }
  return std::numeric_limits<double>::infinity();
}

std::optional<double> RealSearch::planned(const State &source,
                                          const State &target, int64_t &most,
                                          std::string &text) {
  std::string error;
  ReshardProblem problem =
      realProblem(mesh, layout(source), layout(target), shape, 4, costs);
  if (problem.shape.empty())
    return std::nullopt;
  std::optional<ReshardPlan> plan = planReshard(problem, error);
  llvm::raw_string_ostream os(text);
  os << problem.source << " to " << problem.target << ": ";
  if (!plan || !plan->optimal) {
    os << error << " no optimal plan";
    return -1;
  }
  os << *plan << ", price " << plan->price;
  // The plan on padded sizes, which there keeps to the limit if one does.
  problem.shape.clear();
  for (const Step &step : planReshard(problem, error)->steps) {
    int64_t held = 1;
    for (auto [size, sharded] : llvm::zip(shape, step.after.dims))
      held *= llvm::divideCeil(size, sharded.numShards());
    most = std::max(most, held);
  }
  return plan->price;
}

class UnevenPlans
    : public testing::TestWithParam<std::tuple<std::vector<int64_t>, int>> {};

TEST_P(UnevenPlans, costWhatTheCheapestWayCosts) {
  auto [sizes, rank] = GetParam();
  Mesh mesh(sizes);
  std::vector<llvm::StringRef> names(sizes.size(), "x");
  std::mt19937 random(mesh.numDevices() + 100 * rank);
  int failures = 0;
  for (llvm::StringRef model : {"bytes", "cpu"})
    for (std::array<int64_t, 3> all :
         {std::array<int64_t, 3>{10, 7, 13}, {10001, 7, 13}}) {
      RealSearch search(mesh, llvm::ArrayRef(all).take_front(rank),
                        MeshCosts(*DeviceModel::find(model), names));
      std::vector<State> &states = search.states;
      for (size_t pair = 0; pair < numTestCases() / 4; ++pair) {
        const State &source = states[random() % states.size()],
                    &target = states[random() % states.size()];
        int64_t most = 0;
        std::string text;
        if (bitsOf(target.back()) & ~bitsOf(source.back()))
          continue;
        std::optional<double> planned =
            search.planned(source, target, most, text);
        if (!planned)
          continue;
        double expected = search.cheapest(source, target, most);
        if (std::abs(*planned - expected) > 1e-6 * expected && ++failures <= 5)
          ADD_FAILURE() << text << ", the cheapest way " << expected;
      }
    }
  EXPECT_EQ(failures, 0);
}

INSTANTIATE_TEST_SUITE_P(All, UnevenPlans, meshesAndRanks());

} // namespace
