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
// (A*; ReshardBound.h). No step costs less than what it takes off the bound, so
// a state is final when it is first taken from the queue. Where atoms exclude
// each other the bound is not used.
//
// From every state that is one step from the target, or slices alone, a plan is
// known. What can't be cheaper, by bytes and steps of latency, is not looked
// at.
//
// Where sizes do not divide, the price of a step is found by playing it on what
// a device holds. The bound is then what the first device lacks: it has the
// first elements of every dim, and in every layout the most.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_RESHARDSEARCH_H
#define SHARDONNAY_PLAN_RESHARDSEARCH_H

#include "shardonnay/plan/PricedShard.h"
#include "shardonnay/plan/Refinement.h"
#include "shardonnay/plan/ReshardBound.h"
#include "shardonnay/plan/ReshardPlan.h"
#include <deque>
#include <limits>
#include <queue>
#include <unordered_set>

namespace shardonnay {

/// Has what a device holds take the step.
void simulateStep(const Step &step, LocalShard &shard);

class ReshardSearch {
public:
  /// Requires that the problem is sound, and has fewer than 64 atoms, and
  /// `windows`, which has to outlive this, where sizes do not divide.
  ReshardSearch(const ReshardProblem &problem, const Refinement &atoms,
                WindowPrices *windows = nullptr);

  /// Which layouts a permute may lead to: any, or those whose dims are as
  /// before or as the target has them.
  enum class Permutes { Any, ToTarget };

  /// What costs as much, or more, is of no interest.
  void setMostCost(double cost) { ceiling = roundedDown(cost); }

  /// The one step to the target, or slices alone, if no plan is cheaper. A step
  /// of a kind sends what the bound says has to be sent, and takes the fewest
  /// steps of latency by which so many devices can tell each other anything: so
  /// it has to go over the best links.
  std::optional<Steps> findDirect() const;

  /// The cheapest steps through layouts of at most `maxElements` a device,
  /// without the layouts between; nothing if there are none, or if the search
  /// came by more than `budget` states, which sets `gaveUp`.
  std::optional<Steps> run(int64_t maxElements, int64_t budget,
                           Permutes permutes, bool &gaveUp);

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
  using Moves = llvm::SmallVector<Move, 2>;
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
    /// The hash of the state.
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
  /// From `state` to the target; nothing where atoms exclude each other.
  LeastCost lowerBound(const State &state) const;
  /// The same where sizes do not divide.
  LeastCost unevenBound(const State &state) const;
  /// What a move costs from a state with so many elements a device.
  Cost costOf(const Move &move, int64_t elements) const;
  double priceOf(const Move &move, int64_t elements) const;
  /// The one move from `state` to the target, or slices alone; empty if there
  /// are none.
  Moves directMoves(const State &state) const;
  Moves settlingMoves(const State &state,
                      llvm::ArrayRef<int32_t> changed) const;
  Moves exchange(const State &state, int32_t from, int32_t to) const;
  Moves permute(const State &state, llvm::ArrayRef<int32_t> changed) const;
  /// The dims before `dim` that may change places with it where neither is
  /// sharded: as long as it, and not sharded in the target, as it is.
  llvm::SmallVector<uint8_t, 4> findEqualBefore(size_t dim) const;
  /// Whether dim `dim` may have so many shards more; false too where a dim
  /// before it is as good a place in every respect.
  bool canAppend(const State &state, int64_t dim, int64_t shards) const;
  uint64_t used(const State &state) const;
  /// The step of a move to `state`.
  Step toStep(const Move &move, const State &state) const;

  void expand(Node &node);
  void tryReductions(Node &node);
  void tryScatter(Node &node, AtomList &order, uint64_t left);
  void trySuffixes(Node &node);
  void trySlices(Node &node);
  void tryPermutes(Node &node);
  /// Shards dim `dim` and those after it of `next` in all ways that have as
  /// many shards as `node`, with the atoms of the set `free`.
  void permuteFrom(Node &node, State &next, size_t dim, uint64_t free);
  /// Extends dim `dim` of `next` by atoms of `free` until it has `shards` more.
  void permuteDim(Node &node, State &next, size_t dim, uint64_t free,
                  int64_t shards);
  /// Enters the state that `move` leads to, if it is worthwhile; `change` makes
  /// it of that of `from`.
  void reach(Node &from, Move move, llvm::function_ref<void(State &)> change);
  /// The same where sizes do not divide.
  void reachUneven(Node &from, Move move,
                   llvm::function_ref<void(State &)> change);
  /// Whether the state of `scratch` is new at this cost and depth, or cheaper
  /// than before, and may lead to a plan of interest.
  bool isWorthwhile(std::pair<double, int64_t> cost);
  /// Enters that state, if it is.
  void enter(Node &from, Move move, std::pair<double, int64_t> cost);
  /// The price of a move that leads from one state to the other, on the sizes
  /// that devices really hold.
  double realPrice(const State &from, const Move &move, const State &to);
  /// Slices of several axes are no two slices where sizes do not divide.
  void trySlice(Node &node, int32_t dim, AtomList &order, uint64_t free);
  llvm::SmallVector<AxisList, 4> axesOf(const State &state) const;
  void boundByDirectMoves(const Node &node);

  const ReshardProblem &problem;
  const Refinement &atoms;
  State source, target;
  /// Of each dim of the target.
  llvm::SmallVector<int64_t, 8> targetShards;
  /// What findEqualBefore says of each dim.
  llvm::SmallVector<llvm::SmallVector<uint8_t, 4>, 8> equalBefore;
  /// Bits of atoms: those that shard a dim of the target; by atom, those that
  /// it excludes.
  uint64_t slicable = 0;
  llvm::SmallVector<uint64_t, 8> excluded;
  bool anyExcluded = false;
  /// Elements of the whole tensor divided by the devices that the atoms tell
  /// apart.
  double elementsPerDevice = 0;
  double ceiling = std::numeric_limits<double>::infinity();
  WindowPrices *windows;

  // Of one run.
  int64_t maxElements = 0;
  Permutes permutes = Permutes::Any;
  /// No plan that costs more is of interest.
  double mostCost = 0;
  /// The price of the plan that was found.
  double planCost = 0;
  int64_t numEntries = 0;
  /// Layouts come by, those that are too dear too.
  int64_t numSeen = 0;
  /// Elements that a device has in the node being expanded.
  int64_t elements = 0;
  std::deque<Node> nodes;
  /// The state that is looked at, and the node that has been entered for it, if
  /// there is one.
  Node scratch;
  Node *sameState = nullptr;
  std::unordered_set<Node *, HashNode, EqualNode> known;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
};

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_RESHARDSEARCH_H
