//===- ReshardSearch.h - guided search over layouts -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search behind planReshard. A state says in which dim, at which place,
// each atom of the refinement stands, and which are partial; the edges are the
// steps of ReshardPlan.h. Private to this folder.
//
// The search is guided by a lower bound on the bytes still to be received
// (A*). With T elements in a device's part of the target:
//
//  * nothing left to settle: the device that has least of its part must receive
//    the rest of it. If in some dim the two layouts first differ in which atom
//    comes next, some device has nothing of its part.
//  * sums over n parts left to settle: an element needs n - 1 messages until
//    some device knows it, and one more for each other device that wants it.
//    Over all D devices (products of atoms) that is, for each,
//    T + (n - 2) size / D elements.
//
// No step costs less than what it takes off the bound, so a state is settled
// when it is first taken from the queue. Where atoms exclude each other the
// bound is not used.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_RESHARDSEARCH_H
#define SHARDONNAY_PLAN_RESHARDSEARCH_H

#include "shardonnay/plan/Refinement.h"
#include "shardonnay/plan/ReshardPlan.h"
#include <deque>
#include <queue>
#include <unordered_set>

namespace shardonnay {

class ReshardSearch {
public:
  /// Requires that the problem is sound, and has fewer than 64 atoms.
  ReshardSearch(const ReshardProblem &problem, const Refinement &atoms);

  /// Which layouts a permute may lead to: any, or those whose dims are as
  /// before or as the target has them.
  enum class Permutes { Any, ToTarget };

  /// The cheapest steps through layouts of at most `maxElements` a device,
  /// without the layouts between; nothing if there are none, or if the search
  /// came by more than `budget` states, which sets `gaveUp`.
  std::optional<llvm::SmallVector<Step, 4>>
  run(int64_t maxElements, int64_t budget, Permutes permutes, bool &gaveUp);

private:
  /// The atoms of each dim, one dim after the other: a search makes and
  /// compares many of these.
  class Dims {
  public:
    size_t size() const { return ends.size(); }
    llvm::ArrayRef<uint8_t> operator[](size_t dim) const {
      size_t first = dim == 0 ? 0 : ends[dim - 1];
      return llvm::ArrayRef(atoms).slice(first, ends[dim] - first);
    }
    void addDim(llvm::ArrayRef<uint8_t> list) {
      atoms.append(list.begin(), list.end());
      ends.push_back(atoms.size());
    }
    void append(size_t dim, llvm::ArrayRef<uint8_t> list) {
      atoms.insert(atoms.begin() + ends[dim], list.begin(), list.end());
      for (size_t d = dim; d < ends.size(); ++d)
        ends[d] += list.size();
    }
    /// Drops the last `count` of the dim.
    void dropBack(size_t dim, size_t count) {
      atoms.erase(atoms.begin() + ends[dim] - count, atoms.begin() + ends[dim]);
      for (size_t d = dim; d < ends.size(); ++d)
        ends[d] -= count;
    }
    bool operator==(const Dims &o) const {
      return atoms == o.atoms && ends == o.ends;
    }
    friend llvm::hash_code hash_value(const Dims &dims) {
      return llvm::hash_combine(llvm::hash_combine_range(dims.atoms),
                                llvm::hash_combine_range(dims.ends));
    }

  private:
    llvm::SmallVector<uint8_t, 12> atoms;
    llvm::SmallVector<uint8_t, 8> ends;
  };
  struct State {
    Dims dims;
    /// A bit an atom.
    uint64_t partial = 0;

    size_t hash() const { return llvm::hash_combine(dims, partial); }
    bool operator==(const State &o) const {
      return dims == o.dims && partial == o.partial;
    }
  };
  struct Move {
    StepKind kind = StepKind::Slice;
    int32_t dim = -1;
    int32_t targetDim = -1;
    AtomList atoms;
  };
  struct Node {
    State state;
    Move move;
    Node *parent = nullptr;
    double cost = 0;
    /// At least what it costs to reach the target from here.
    double rest = 0;
    /// The number of steps from the source.
    int64_t depth = 0;
    bool done = false;
    /// Of the state.
    size_t hash = 0;
  };
  struct HashNode {
    size_t operator()(const Node *node) const { return node->hash; }
  };
  struct EqualNode {
    bool operator()(const Node *a, const Node *b) const {
      return a->hash == b->hash && a->state == b->state;
    }
  };
  /// Cost and bound on the rest, number of steps, number of the entry: the last
  /// makes the order of equals that of their discovery.
  using Entry = std::tuple<double, int64_t, int64_t, Node *>;

  int64_t localElements(const State &state) const;
  double lowerBound(const State &state) const;
  /// What every device has of its part of the target, in elements; 0 if some
  /// device has nothing.
  int64_t leastOverlap(const State &state) const;
  bool canAppend(const State &state, int64_t dim, int64_t shards) const;
  uint64_t used(const State &state) const;
  Step toStep(const Node &node) const;
  /// The axes that devices differ along where they differ along these atoms.
  AxisList spannedBy(llvm::ArrayRef<uint8_t> list) const;

  void expand(Node &node);
  void tryReductions(Node &node);
  void tryScatter(Node &node, AtomList &order, uint64_t left);
  void trySuffixes(Node &node);
  void trySlices(Node &node);
  void tryPermutes(Node &node);
  /// Cuts dim `dim` and those after it of `next` in all ways that have as many
  /// shards as `node`, with the atoms of the set `free`.
  void permuteFrom(Node &node, State &next, size_t dim, uint64_t free);
  /// Extends dim `dim` of `next` by atoms of `free` until it has `shards` more.
  void permuteDim(Node &node, State &next, size_t dim, uint64_t free,
                  int64_t shards);
  /// Enters the state that `move` leads to, if it is new or cheaper this way.
  void reach(Node &from, Move move, State state);

  const ReshardProblem &problem;
  const Refinement &atoms;
  State source, target;
  /// Bits of atoms: those that cut a dim of the target; by atom, those that
  /// it excludes.
  uint64_t slicable = 0;
  llvm::SmallVector<uint64_t, 8> excluded;
  bool anyExcluded = false;
  /// Elements of a device's part of the target, and of the whole tensor divided
  /// by the devices that the atoms tell apart.
  int64_t targetElements = 0;
  double elementsPerDevice = 0;

  // Of one run.
  int64_t maxElements = 0;
  Permutes permutes = Permutes::Any;
  /// No plan that costs more is of interest.
  double mostCost = 0;
  /// Of the plan that was found.
  double planCost = 0;
  int64_t numEntries = 0;
  /// Elements that a device has in the node being expanded.
  int64_t elements = 0;
  std::deque<Node> nodes;
  std::unordered_set<Node *, HashNode, EqualNode> known;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
};

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_RESHARDSEARCH_H
