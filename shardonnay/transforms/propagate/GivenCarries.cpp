//===- GivenCarries.cpp - loops that carry what was given -----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A link is an operand and the result of an op that only moves elements, or
// changes them one by one.
// 1. `moveUp`: from the last op to the first, along links, from what was given
//    behind loops to their results.
// 2. `moveDown`: in the order of the program, from what was given to the
//    initial values of loops.
// 3. `keepCarries`: what is carried takes what its result was given, else its
//    initial value.
// 4. `addBetween`: what links lead to from there, and on to what is carried in
//    the next run, is sharded so too: else it had what propagation gives it,
//    and would be gathered in each run.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/GivenCarries.h"
#include "shardonnay/algebra/Projection.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace llvm;

namespace shardonnay {

namespace {

class GivenCarrySearch {
public:
  GivenCarrySearch(PropagationGraph &graph, ArrayRef<int32_t> carried,
                   ArrayRef<int32_t> given, ArrayRef<int32_t> propagated)
      : graph(graph), carried(carried), given(given), propagated(propagated) {}

  std::vector<GivenCarry> run();

private:
  /// An operand of an op, and its result.
  struct Link {
    int32_t op, operand, source, target;
  };

  void moveUp();
  void moveDown();
  void keepCarries();
  void addBetween();

  bool wasGiven(int32_t tensor) const {
    return graph.shardingOf(given[tensor]).mesh != kNone;
  }
  /// The members of a sharding group stay alike.
  bool mayKeep(int32_t tensor) const {
    return !wasGiven(tensor) && graph.groupOf(tensor).size() == 1;
  }
  /// What the loop carries, of one of `carried`.
  int32_t carriedBy(int32_t op) const { return graph.ops().tensors(op).back(); }
  /// It would be gathered behind the loop.
  bool isGathered(int32_t op) const;
  /// What a tensor was given, or else what has reached it.
  int32_t givenOr(int32_t tensor,
                  const DenseMap<int32_t, int32_t> &reached) const {
    return tensor != kNone && wasGiven(tensor)
               ? given[tensor]
               : reached.lookup_or(tensor, kNone);
  }
  SmallVector<Link, 2> linksOf(int32_t op) const;
  /// The sharding `id` of one side of a link, as the other side has it.
  int32_t toTarget(const Link &link, int32_t id);
  int32_t toSource(const Link &link, int32_t id);
  int32_t project(const Link &link, int32_t from, int32_t to, int32_t id);
  int32_t closed(int32_t id);

  PropagationGraph &graph;
  ArrayRef<int32_t> carried, given, propagated;
  /// Ids of shardings, by tensor.
  DenseMap<int32_t, int32_t> down, up;
  MapVector<int32_t, int32_t> kept;
};

SmallVector<GivenCarrySearch::Link, 2>
GivenCarrySearch::linksOf(int32_t op) const {
  const OpSignature &form = graph.form(graph.ops().form(op));
  const FactorRule &rule = *form.rule;
  SmallVector<Link, 2> links;
  if (rule.results.size() != 1 || !form.boundary.empty())
    return links;
  bool moves = form.propagationClass == PropagationClass::PassThrough ||
               form.propagationClass == PropagationClass::PassThroughForward;
  auto tensors = graph.ops().tensors(op);
  for (auto [i, mapping] : enumerate(rule.operands))
    if (int32_t source = tensors[i]; source != kNone && !mapping.dims.empty() &&
                                     (moves || mapping == rule.results.front()))
      links.push_back({op, static_cast<int32_t>(i), source, tensors.back()});
  return links;
}

int32_t GivenCarrySearch::project(const Link &link, int32_t from, int32_t to,
                                  int32_t id) {
  const FactorRule &rule = *graph.form(graph.ops().form(link.op)).rule;
  const TensorMapping &target = rule.tensor(to);
  MeshSharding sharding = graph.shardingOf(id);
  sharding.sharding = unproject(
      shardonnay::project(sharding.sharding, rule.tensor(from), rule.factors),
      target, rule.factors, TensorSharding::fullyClosed(target.dims.size()));
  return graph.intern(sharding);
}

int32_t GivenCarrySearch::toTarget(const Link &link, int32_t id) {
  return project(link, link.operand,
                 /*to=*/graph.ops().tensors(link.op).size() - 1, id);
}

int32_t GivenCarrySearch::toSource(const Link &link, int32_t id) {
  return project(link, /*from=*/graph.ops().tensors(link.op).size() - 1,
                 link.operand, id);
}

void GivenCarrySearch::moveUp() {
  const OpArray &returns = graph.returns();
  for (int32_t op : seq(returns.size())) {
    auto tensors = returns.tensors(op);
    if (wasGiven(tensors.back()))
      up.try_emplace(tensors.front(), given[tensors.back()]);
  }
  for (int32_t op : reverse(seq(graph.ops().size())))
    for (const Link &link : linksOf(op))
      if (int32_t wanted = givenOr(link.target, up); wanted != kNone)
        up.try_emplace(link.source, toSource(link, wanted));
}

void GivenCarrySearch::moveDown() {
  for (int32_t op : seq(graph.ops().size()))
    for (const Link &link : linksOf(op))
      if (int32_t source = givenOr(link.source, down); source != kNone)
        down.try_emplace(link.target, toTarget(link, source));
}

bool GivenCarrySearch::isGathered(int32_t op) const {
  auto found = up.find(carriedBy(op));
  if (found == up.end())
    return false;
  const MeshSharding &wanted = graph.shardingOf(found->second);
  const MeshSharding &has = graph.shardingOf(propagated[carriedBy(op)]);
  return wanted.mesh == has.mesh && axesDiffer(wanted.sharding, has.sharding) &&
         all_of(zip(wanted.sharding.dims, has.sharding.dims),
                [](const auto &dims) {
                  auto &[ofWanted, ofHas] = dims;
                  return ofWanted.axes.isPrefixOf(ofHas.axes);
                });
}

int32_t GivenCarrySearch::closed(int32_t id) {
  MeshSharding sharding = graph.shardingOf(id);
  for (DimSharding &dim : sharding.sharding.dims)
    dim.closed = true;
  return graph.intern(sharding);
}

void GivenCarrySearch::keepCarries() {
  for (int32_t op : carried) {
    int32_t tensor = carriedBy(op), initial = graph.ops().tensors(op).front();
    int32_t wanted = up.lookup_or(tensor, kNone),
            id = wanted != kNone ? wanted : givenOr(initial, down);
    if (id == kNone || !mayKeep(tensor))
      continue;
    const MeshSharding &asGiven = graph.shardingOf(id);
    const MeshSharding &has = graph.shardingOf(propagated[tensor]);
    if (asGiven.mesh == has.mesh && asGiven.sharding.unreduced.empty() &&
        axesDiffer(asGiven.sharding, has.sharding))
      kept[tensor] = closed(id);
  }
}

void GivenCarrySearch::addBetween() {
  DenseSet<int32_t> leading;
  for (int32_t op : reverse(seq(graph.ops().size())))
    for (const Link &link : linksOf(op))
      if (kept.contains(link.target) || leading.contains(link.target))
        leading.insert(link.source);
  for (int32_t op : seq(graph.ops().size()))
    for (const Link &link : linksOf(op))
      if (auto *found = kept.find(link.source);
          found != kept.end() && leading.contains(link.target) &&
          mayKeep(link.target) && !kept.contains(link.target)) {
        int32_t id = closed(toTarget(link, found->second));
        kept[link.target] = id;
      }
}

std::vector<GivenCarry> GivenCarrySearch::run() {
  if (carried.empty())
    return {};
  moveUp();
  if (none_of(carried, [&](int32_t op) { return isGathered(op); }))
    return {};
  moveDown();
  keepCarries();
  size_t numCarried = kept.size();
  addBetween();
  std::vector<GivenCarry> carries;
  for (auto [number, entry] : enumerate(kept))
    carries.push_back({entry.first, entry.second, number < numCarried});
  return carries;
}

} // namespace

std::vector<GivenCarry> findGivenCarries(PropagationGraph &graph,
                                         ArrayRef<int32_t> carried,
                                         ArrayRef<int32_t> given,
                                         ArrayRef<int32_t> propagated) {
  return GivenCarrySearch(graph, carried, given, propagated).run();
}

} // namespace shardonnay
