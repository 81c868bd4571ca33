//===- ReshardSearch.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/ReshardSearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/bit.h"
#include <limits>
#include <numeric>

namespace shardonnay {

static uint64_t bit(uint8_t atom) { return uint64_t{1} << atom; }

static uint64_t bits(llvm::ArrayRef<uint8_t> list) {
  uint64_t set = 0;
  for (uint8_t atom : list)
    set |= bit(atom);
  return set;
}

/// The members of a set, ascending.
static AtomList members(uint64_t set) {
  AtomList list;
  for (; set != 0; set &= set - 1)
    list.push_back(llvm::countr_zero(set));
  return list;
}

ReshardSearch::ReshardSearch(const ReshardProblem &problem,
                             const Refinement &atoms)
    : problem(problem), atoms(atoms) {
  for (const AxisList &axes : problem.source.dims)
    source.dims.addDim(atoms.sourceAtoms(axes));
  source.partial = bits(atoms.sourceAtoms(problem.source.partial));
  for (const AxisList &axes : problem.target.dims) {
    AtomList list = atoms.targetAtoms(axes);
    target.dims.addDim(list);
    slicable |= bits(list);
  }
  target.partial = bits(atoms.targetAtoms(problem.target.partial));
  for (size_t a = 0; a < atoms.size(); ++a) {
    uint64_t &set = excluded.emplace_back(0);
    for (size_t b = 0; b < atoms.size(); ++b)
      if (atoms.exclude(a, b))
        set |= bit(b);
    anyExcluded |= set != 0;
  }
  targetElements = localElements(target);
  elementsPerDevice = 1;
  for (int64_t size : problem.source.padded)
    elementsPerDevice *= size;
  for (size_t atom = 0; atom < atoms.size(); ++atom)
    elementsPerDevice /= atoms[atom].size;
}

int64_t ReshardSearch::localElements(const State &state) const {
  int64_t elements = 1;
  for (auto [dim, size] : llvm::enumerate(problem.source.padded))
    elements *= size / atoms.numShards(state.dims[dim]);
  return elements;
}

int64_t ReshardSearch::leastOverlap(const State &state) const {
  int64_t overlap = 1;
  for (auto [dim, size] : llvm::enumerate(problem.source.padded)) {
    llvm::ArrayRef<uint8_t> here = state.dims[dim], there = target.dims[dim];
    size_t both = std::min(here.size(), there.size());
    if (!std::equal(here.begin(), here.begin() + both, there.begin()))
      return 0;
    overlap *= size / atoms.numShards(here.size() > both ? here : there);
  }
  return overlap;
}

double ReshardSearch::lowerBound(const State &state) const {
  if (anyExcluded)
    return 0;
  uint64_t settled = state.partial & ~target.partial;
  double rest = targetElements;
  if (settled != 0)
    rest += (atoms.numShards(members(settled)) - 2) * elementsPerDevice;
  else
    rest -= leastOverlap(state);
  return rest * problem.elementBytes;
}

bool ReshardSearch::canAppend(const State &state, int64_t dim,
                              int64_t shards) const {
  return problem.source.padded[dim] %
             (atoms.numShards(state.dims[dim]) * shards) ==
         0;
}

uint64_t ReshardSearch::used(const State &state) const {
  uint64_t set = state.partial;
  for (size_t dim = 0; dim < state.dims.size(); ++dim)
    set |= bits(state.dims[dim]);
  return set;
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

void ReshardSearch::reach(Node &from, Move move, State state) {
  int64_t shards = atoms.numShards(move.atoms);
  if (move.kind == StepKind::AllGather && elements * shards > maxElements)
    return;
  auto axes = llvm::map_to_vector<6>(
      move.atoms, [&](uint8_t atom) -> int64_t { return atoms[atom].axis; });
  double price = problem.costs.price(
      collectiveCost(move.kind, shards, elements * problem.elementBytes), axes);
  nodes.emplace_back();
  Node *node = &nodes.back();
  node->state = std::move(state);
  node->hash = node->state.hash();
  auto [place, isNew] = known.insert(node);
  std::pair<double, int64_t> cost(from.cost + price, from.depth + 1);
  if (isNew) {
    node->rest = lowerBound(node->state);
  } else {
    nodes.pop_back();
    node = *place;
    if (cost >= std::pair(node->cost, node->depth))
      return;
  }
  std::tie(node->cost, node->depth) = cost;
  node->move = std::move(move);
  node->parent = &from;
  node->done = false;
  if (node->cost + node->rest <= mostCost)
    queue.emplace(node->cost + node->rest, node->depth, numEntries++, node);
}

void ReshardSearch::tryScatter(Node &node, AtomList &order, uint64_t left) {
  for (uint8_t atom : members(left)) {
    order.push_back(atom);
    for (size_t dim = 0; dim < node.state.dims.size(); ++dim) {
      if (!canAppend(node.state, dim, atoms.numShards(order)))
        continue;
      State next = node.state;
      next.partial &= ~bits(order);
      next.dims.append(dim, order);
      reach(node,
            {StepKind::ReduceScatter, static_cast<int32_t>(dim), -1, order},
            std::move(next));
    }
    tryScatter(node, order, left & ~bit(atom));
    order.pop_back();
  }
}

void ReshardSearch::tryReductions(Node &node) {
  uint64_t settled = node.state.partial & ~target.partial;
  for (uint64_t set = settled; set != 0; set = (set - 1) & settled) {
    State next = node.state;
    next.partial &= ~set;
    reach(node, {StepKind::AllReduce, -1, -1, members(set)}, std::move(next));
  }
  AtomList order;
  tryScatter(node, order, settled);
}

void ReshardSearch::trySuffixes(Node &node) {
  int32_t rank = node.state.dims.size();
  for (int32_t dim = 0; dim < rank; ++dim) {
    llvm::ArrayRef<uint8_t> axes = node.state.dims[dim];
    for (size_t count = 1; count <= axes.size(); ++count) {
      AtomList suffix(axes.take_back(count));
      State rest = node.state;
      rest.dims.dropBack(dim, count);
      for (int32_t to = 0; to < rank; ++to) {
        if (to == dim || !canAppend(node.state, to, atoms.numShards(suffix)))
          continue;
        State next = rest;
        next.dims.append(to, suffix);
        reach(node, {StepKind::AllToAll, dim, to, suffix}, std::move(next));
      }
      reach(node, {StepKind::AllGather, dim, -1, suffix}, std::move(rest));
    }
  }
}

void ReshardSearch::trySlices(Node &node) {
  uint64_t inUse = used(node.state);
  for (uint8_t atom : members(slicable & ~inUse)) {
    if (excluded[atom] & inUse)
      continue;
    for (size_t dim = 0; dim < node.state.dims.size(); ++dim) {
      if (!canAppend(node.state, dim, atoms[atom].size))
        continue;
      State next = node.state;
      next.dims.append(dim, atom);
      reach(node, {StepKind::Slice, static_cast<int32_t>(dim), -1, {atom}},
            std::move(next));
    }
  }
}

void ReshardSearch::permuteDim(Node &node, State &next, size_t dim,
                               uint64_t free, int64_t shards) {
  if (shards == 1)
    return permuteFrom(node, next, dim + 1, free);
  for (uint8_t atom : members(free)) {
    if (shards % atoms[atom].size != 0)
      continue;
    next.dims.append(dim, atom);
    permuteDim(node, next, dim, free & ~bit(atom) & ~excluded[atom],
               shards / atoms[atom].size);
    next.dims.dropBack(dim, 1);
  }
}

void ReshardSearch::permuteFrom(Node &node, State &next, size_t dim,
                                uint64_t free) {
  if (dim == next.dims.size()) {
    uint64_t touched = 0;
    for (size_t d = 0; d < dim; ++d)
      if (node.state.dims[d] != next.dims[d])
        touched |= bits(node.state.dims[d]) | bits(next.dims[d]);
    if (touched != 0)
      reach(node, {StepKind::Permute, -1, -1, members(touched)}, next);
    return;
  }
  llvm::ArrayRef<uint8_t> present = node.state.dims[dim];
  int64_t shards = atoms.numShards(present);
  if (permutes == Permutes::Any) {
    next.dims.dropBack(dim, next.dims[dim].size());
    return permuteDim(node, next, dim, free, shards);
  }
  auto take = [&](llvm::ArrayRef<uint8_t> list) {
    uint64_t left = free;
    for (uint8_t atom : list) {
      if (!(left & bit(atom)))
        return;
      left &= ~bit(atom) & ~excluded[atom];
    }
    next.dims.dropBack(dim, next.dims[dim].size());
    next.dims.append(dim, list);
    permuteFrom(node, next, dim + 1, left);
  };
  take(present);
  AtomList prefix;
  for (uint8_t atom : target.dims[dim])
    if (shards % (atoms.numShards(prefix) * atoms[atom].size) == 0)
      prefix.push_back(atom);
    else
      break;
  if (atoms.numShards(prefix) == shards && prefix != present)
    take(prefix);
}

void ReshardSearch::tryPermutes(Node &node) {
  // Two permutes in a row are one, and one sends at least what a device has.
  if ((node.parent && node.move.kind == StepKind::Permute) ||
      node.cost + elements * problem.elementBytes > mostCost)
    return;
  uint64_t free = slicable | (used(node.state) & ~node.state.partial);
  free &= ~node.state.partial;
  for (uint8_t atom : members(node.state.partial))
    free &= ~excluded[atom];
  State next = node.state;
  permuteFrom(node, next, 0, free);
}

void ReshardSearch::expand(Node &node) {
  elements = localElements(node.state);
  trySlices(node);
  tryPermutes(node);
  trySuffixes(node);
  tryReductions(node);
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

AxisList ReshardSearch::spannedBy(llvm::ArrayRef<uint8_t> list) const {
  // Atoms of the two sides may exclude each other: then all that they span.
  auto joins = [](AxisRef a, AxisRef b) {
    return a.overlaps(b) || !a.canCoexist(b);
  };
  llvm::SmallVector<AxisRef, 8> spans;
  for (uint8_t atom : list) {
    AxisRef span = atoms[atom];
    while (true) {
      auto *other = llvm::find_if(
          spans, [&](AxisRef known) { return joins(span, known); });
      if (other == spans.end())
        break;
      int64_t pre = std::gcd(span.pre, other->pre);
      span = {span.axis, pre, std::lcm(span.end(), other->end()) / pre};
      spans.erase(other);
    }
    spans.push_back(span);
  }
  AxisList axes;
  for (AxisRef span : spans)
    axes.append(span);
  return axes.sorted();
}

Step ReshardSearch::toStep(const Node &node) const {
  const Move &move = node.move;
  Step step;
  step.kind = move.kind;
  step.dim = move.dim;
  step.targetDim = move.targetDim;
  step.axes = atoms.toAxes(move.atoms);
  if (move.kind == StepKind::AllReduce)
    step.axes = step.axes.sorted();
  if (move.kind == StepKind::Permute) {
    step.axes = spannedBy(move.atoms);
    for (size_t dim = 0; dim < node.state.dims.size(); ++dim)
      step.after.dims.push_back(atoms.toAxes(node.state.dims[dim]));
  }
  if (move.kind == StepKind::AllReduce || move.kind == StepKind::ReduceScatter)
    step.reduction = problem.source.kind;
  return step;
}

/// So many have layouts enough that a second search pays off.
static constexpr size_t kManyAtoms = 4;
/// Of sums of prices.
static constexpr double kRounding = 1e-9;

std::optional<llvm::SmallVector<Step, 4>>
ReshardSearch::run(int64_t maxElements, int64_t budget, Permutes permutes,
                   bool &gaveUp) {
  mostCost = std::numeric_limits<double>::infinity();
  // The best of the few layouts bounds what is worth a look among the many.
  bool ignored = false;
  if (permutes == Permutes::Any && atoms.size() >= kManyAtoms &&
      run(maxElements, budget, Permutes::ToTarget, ignored))
    mostCost = planCost * (1 + kRounding);
  this->maxElements = maxElements;
  this->permutes = permutes;
  numEntries = 0;
  known.clear();
  nodes.clear();
  queue = {};
  nodes.emplace_back().state = source;
  nodes.back().hash = source.hash();
  known.insert(&nodes.back());
  queue.emplace(0, 0, numEntries++, &nodes.back());

  while (!queue.empty()) {
    Node *node = std::get<Node *>(queue.top());
    queue.pop();
    if (node->done)
      continue;
    node->done = true;
    if (node->state == target) {
      planCost = node->cost;
      llvm::SmallVector<Step, 4> steps;
      for (; node->parent; node = node->parent)
        steps.push_back(toStep(*node));
      std::reverse(steps.begin(), steps.end());
      return steps;
    }
    if (static_cast<int64_t>(nodes.size()) > budget) {
      gaveUp = true;
      return std::nullopt;
    }
    expand(*node);
  }
  return std::nullopt;
}

} // namespace shardonnay
