//===- SliceMapsTesting.h - reshards by brute force, for tests --*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cheapest way from one layout to another without any notion of a layout on
// the way: a state is what every device holds (a box of the tensor, and the
// parts of the sum that went into it), and a collective over a group of devices
// is possible if what the group's devices hold fits together. Tests compare
// plans with it; it shares nothing with the planner but the rules in
// ReshardPlan.h and the price of a collective.
//
// Example: two devices hold the rows 0-3 and 4-7 of 8 x 8 elements. All-gather
// along rows is possible, since their boxes follow each other; an all_to_all
// from rows to columns leads to the columns 0-3 and 4-7.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_SLICEMAPSTESTING_H
#define SHARDONNAY_PLAN_SLICEMAPSTESTING_H

#include "shardonnay/algebra/Layout.h"
#include "shardonnay/cost/DeviceModel.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <cmath>
#include <deque>
#include <map>
#include <queue>
#include <set>
#include <vector>

namespace shardonnay {

/// What rapidcheck is told to try (scripts/suites.py: 100, or 2000 with
/// --long).
inline size_t numTestCases() {
  const char *given = std::getenv("RC_PARAMS");
  llvm::StringRef text = given ? given : "";
  size_t cases = 100;
  text.split("max_success=")
      .second.take_while([](char c) { return c >= '0' && c <= '9'; })
      .getAsInteger(10, cases);
  return cases;
}

/// The meshes on which plans are compared, each with tensors of every rank.
inline auto meshesAndRanks() {
  return testing::Combine(testing::Values(std::vector<int64_t>{2, 2},
                                          std::vector<int64_t>{2, 4},
                                          std::vector<int64_t>{2, 2, 2},
                                          std::vector<int64_t>{4, 3}),
                          testing::Values(1, 2, 3));
}

class SliceMaps {
public:
  /// The maps of tensors of the size `padded`, at most three dims, that are
  /// parts of a sum over `partial` at the start. By `costs` all axes of the
  /// mesh are alike. Axes are split into `parts`, or else their prime factors.
  SliceMaps(const Mesh &mesh, std::vector<int64_t> padded,
            const AxisList &partial, MeshCosts costs = {},
            std::vector<AxisRef> parts = {})
      : mesh(mesh), padded(std::move(padded)), partial(partial),
        costs(std::move(costs)), atoms(std::move(parts)) {
    if (atoms.empty())
      splitIntoPrimes();
    addTuples({}, 0);
  }

  /// The price of the cheapest way; infinite if there is none.
  double cheapest(const Layout &source, const Layout &target,
                  int64_t elementBytes) {
    uint32_t targetAtoms = 0;
    for (auto [i, atom] : llvm::enumerate(atoms))
      for (const AxisList &axes : target.dims)
        targetAtoms |= uint32_t{axes.excludes(atom)} << i;
    Problem problem{idOf(source), idOf(target), targetAtoms, elementBytes,
                    std::max(source.localElements(), target.localElements())};
    auto [known, isNew] =
        answers.try_emplace({problem.source, problem.target, elementBytes}, 0);
    if (!isNew)
      return known->second;
    known->second = search(problem);
    problem.maxElements = std::numeric_limits<int64_t>::max();
    if (std::isinf(known->second))
      known->second = search(problem);
    return known->second;
  }

  /// The parts that no axis is split into smaller ones of, as this search does.
  llvm::ArrayRef<AxisRef> getAtoms() const { return atoms; }

private:
  struct Hold {
    std::array<int64_t, 3> start = {0, 0, 0}, size = {1, 1, 1};
    uint32_t parts = 0;

    auto tie() const { return std::tie(start, size, parts); }
    bool operator==(const Hold &o) const { return tie() == o.tie(); }
    bool operator<(const Hold &o) const { return tie() < o.tie(); }
    bool sameBox(const Hold &o) const {
      return start == o.start && size == o.size;
    }
    int64_t elements() const { return size[0] * size[1] * size[2]; }
  };
  /// By position.
  using Map = std::vector<Hold>;
  struct Edge {
    size_t to;
    CollectiveKind kind;
    int64_t groupSize;
    /// Atoms that were not in use.
    uint32_t brought;
  };
  struct Problem {
    size_t source, target;
    uint32_t targetAtoms;
    int64_t elementBytes, maxElements;
  };
  struct Tuple {
    AxisList axes;
    uint32_t atoms;
    llvm::SmallVector<llvm::SmallVector<int64_t>> groups;
  };

  void splitIntoPrimes() {
    for (int32_t axis = 0; axis < mesh.numAxes(); ++axis)
      for (int64_t pre = 1, rest = mesh.axisSize(axis); rest > 1;) {
        int64_t prime = 2;
        while (rest % prime != 0)
          ++prime;
        atoms.push_back({axis, pre, prime});
        pre *= prime;
        rest /= prime;
      }
  }

  void addTuples(const AxisList &axes, uint32_t used) {
    if (used != 0)
      tuples.push_back({axes, used, mesh.groups(axes)});
    for (auto [i, atom] : llvm::enumerate(atoms)) {
      if (used & (1u << i))
        continue;
      // Every order, also of parts that make up an axis.
      AxisList longer = axes;
      longer.append(atom);
      addTuples(longer, used | (1u << i));
    }
  }

  size_t idOf(const Map &map) {
    auto [entry, isNew] = ids.try_emplace(map, states.size());
    if (isNew)
      states.push_back({map, {}, false});
    return entry->second;
  }

  size_t idOf(const Layout &layout) {
    Map map(mesh.numDevices());
    for (int64_t p = 0; p < mesh.numDevices(); ++p) {
      for (auto [d, box] : llvm::enumerate(layout.slice(mesh, p))) {
        map[p].start[d] = box.start;
        map[p].size[d] = box.limit - box.start;
      }
      // What went into it: all that agree on the axes that are left.
      for (int64_t q = 0; q < mesh.numDevices(); ++q)
        if (mesh.index(layout.partial, p) == mesh.index(layout.partial, q))
          map[p].parts |= 1u << mesh.index(partial, q);
    }
    return idOf(map);
  }

  /// The groups' devices in order; `body` gives what each of one group has
  /// after, or fails.
  template <typename Body>
  void tryCollective(size_t from, const Tuple &tuple, CollectiveKind kind,
                     uint32_t brought, Body body) {
    Map after = states[from].map;
    for (const auto &group : tuple.groups) {
      std::vector<Hold> held;
      for (int64_t position : group)
        held.push_back(states[from].map[position]);
      for (auto [i, position] : llvm::enumerate(group))
        if (!body(held, i, after[position]))
          return;
    }
    addEdge(from, std::move(after), kind, tuple.groups.front().size(), brought);
  }

  void addEdge(size_t from, Map after, CollectiveKind kind, int64_t groupSize,
               uint32_t brought) {
    size_t to = idOf(after);
    if (to != from)
      states[from].edges.push_back({to, kind, groupSize, brought});
  }

  /// They follow each other along `dim`, and are alike else.
  static bool tile(const std::vector<Hold> &held, size_t dim) {
    for (auto [i, hold] : llvm::enumerate(held)) {
      Hold expected = held[0];
      expected.start[dim] += static_cast<int64_t>(i) * expected.size[dim];
      if (!(hold == expected))
        return false;
    }
    return true;
  }
  static bool alike(const std::vector<Hold> &held) {
    return llvm::all_of(held, [&](const Hold &h) { return h == held[0]; });
  }
  static bool areSummands(const std::vector<Hold> &held) {
    uint32_t seen = 0;
    for (const Hold &hold : held) {
      if (!hold.sameBox(held[0]) || (seen & hold.parts))
        return false;
      seen |= hold.parts;
    }
    return true;
  }
  static bool takeShard(Hold &hold, size_t dim, size_t index, size_t count) {
    int64_t shards = count;
    if (hold.size[dim] % shards != 0)
      return false;
    hold.size[dim] /= shards;
    hold.start[dim] += static_cast<int64_t>(index) * hold.size[dim];
    return true;
  }
  static Hold joined(const std::vector<Hold> &held, size_t dim) {
    Hold all = held[0];
    all.size[dim] *= static_cast<int64_t>(held.size());
    return all;
  }
  static Hold summed(const std::vector<Hold> &held) {
    Hold sum = held[0];
    for (const Hold &hold : held)
      sum.parts |= hold.parts;
    return sum;
  }

  void expand(size_t from) {
    states[from].expanded = true;
    for (const Tuple &tuple : tuples) {
      size_t rank = padded.size();
      tryCollective(from, tuple, CollectiveKind::AllReduce, 0,
                    [](const auto &held, size_t, Hold &after) {
                      after = summed(held);
                      return areSummands(held);
                    });
      for (size_t dim = 0; dim < rank; ++dim) {
        tryCollective(from, tuple, CollectiveKind::Slice, tuple.atoms,
                      [&](const auto &held, size_t i, Hold &after) {
                        return alike(held) &&
                               takeShard(after, dim, i, held.size());
                      });
        tryCollective(from, tuple, CollectiveKind::AllGather, 0,
                      [&](const auto &held, size_t, Hold &after) {
                        after = joined(held, dim);
                        return tile(held, dim);
                      });
        tryCollective(from, tuple, CollectiveKind::ReduceScatter, 0,
                      [&](const auto &held, size_t i, Hold &after) {
                        after = summed(held);
                        return areSummands(held) &&
                               takeShard(after, dim, i, held.size());
                      });
        for (size_t to = 0; to < rank; ++to)
          if (to != dim)
            tryCollective(from, tuple, CollectiveKind::AllToAll, 0,
                          [&](const auto &held, size_t i, Hold &after) {
                            after = joined(held, dim);
                            return tile(held, dim) &&
                                   takeShard(after, to, i, held.size());
                          });
      }
    }
    permute(from);
  }

  /// The atoms along which what devices hold is not alike: boxes, or parts.
  std::pair<uint32_t, uint32_t> atomsInUse(const Map &map) const {
    uint32_t boxes = 0, parts = 0;
    for (auto [i, atom] : llvm::enumerate(atoms))
      for (const auto &group : mesh.groups({atom}))
        for (int64_t position : group) {
          boxes |= uint32_t{!map[position].sameBox(map[group[0]])} << i;
          parts |= uint32_t{map[position].parts != map[group[0]].parts} << i;
        }
    return {boxes, parts};
  }

  void permute(size_t from) {
    auto [boxes, parts] = atomsInUse(states[from].map);
    Map after = states[from].map;
    shardFrom(from, 0, boxes, ((1u << atoms.size()) - 1) & ~parts, 0, after);
  }

  /// Shards dim `dim` and those behind it into as many shards as they are in,
  /// by any of the atoms `free`.
  void shardFrom(size_t from, size_t dim, uint32_t boxes, uint32_t free,
                 uint32_t taken, const Map &after) {
    if (dim == padded.size()) {
      Map before = states[from].map, wanted = after;
      llvm::sort(before);
      llvm::sort(wanted);
      // Everyone finds a device of its own that has it.
      if (before == wanted)
        addEdge(from, after, CollectiveKind::Permute, 2, taken & ~boxes);
      return;
    }
    int64_t size = states[from].map[0].size[dim];
    int64_t shards = size == 0 ? 1 : padded[dim] / size;
    auto sharded = [&](const AxisList &axes, uint32_t used) {
      Map next = after;
      for (int64_t p = 0; p < mesh.numDevices(); ++p)
        next[p].start[dim] = mesh.index(axes, p) * size;
      shardFrom(from, dim + 1, boxes, free & ~used, taken | used, next);
    };
    if (shards == 1)
      return sharded(AxisList(), 0);
    for (const Tuple &tuple : tuples)
      if ((tuple.atoms & ~free) == 0 && tuple.axes.numShards() == shards)
        sharded(tuple.axes, tuple.atoms);
  }

  double search(const Problem &problem) {
    using Entry = std::pair<double, size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    std::map<size_t, double> prices = {{problem.source, 0}};
    queue.push({0, problem.source});
    while (!queue.empty()) {
      auto [price, id] = queue.top();
      queue.pop();
      if (id == problem.target)
        return price;
      if (price > prices[id])
        continue;
      if (!states[id].expanded)
        expand(id);
      int64_t bytes = states[id].map[0].elements() * problem.elementBytes;
      for (const Edge &edge : states[id].edges) {
        if ((edge.brought & ~problem.targetAtoms) ||
            states[edge.to].map[0].elements() > problem.maxElements)
          continue;
        double next =
            price +
            costs.price(collectiveCost(edge.kind, edge.groupSize, bytes), {0});
        auto [known, isNew] = prices.try_emplace(edge.to, next);
        if (!isNew && known->second <= next)
          continue;
        known->second = next;
        queue.push({next, edge.to});
      }
    }
    return std::numeric_limits<double>::infinity();
  }

  struct State {
    Map map;
    std::vector<Edge> edges;
    bool expanded;
  };

  Mesh mesh;
  std::vector<int64_t> padded;
  AxisList partial;
  MeshCosts costs;
  std::vector<AxisRef> atoms;
  std::vector<Tuple> tuples;
  std::map<Map, size_t> ids;
  std::map<std::tuple<size_t, size_t, int64_t>, double> answers;
  std::deque<State> states;
};

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_SLICEMAPSTESTING_H
