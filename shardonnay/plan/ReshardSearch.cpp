//===- ReshardSearch.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/ReshardSearch.h"

#include "shardonnay/algebra/Counts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

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
                             const Refinement &atoms, WindowPrices *windows)
    : problem(problem), atoms(atoms), windows(windows) {
  for (const AxisList &axes : problem.source.dims)
    source.dims.addDim(atoms.sourceAtoms(axes));
  source.partial = bits(atoms.sourceAtoms(problem.source.partial));
  for (const AxisList &axes : problem.target.dims) {
    AtomList list = atoms.targetAtoms(axes);
    target.dims.addDim(list);
    targetShards.push_back(atoms.numShards(list));
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
  for (size_t dim = 0; dim < target.dims.size(); ++dim)
    equalBefore.push_back(findEqualBefore(dim));
  elementsPerDevice = 1;
  for (int64_t size : problem.source.padded)
    elementsPerDevice = countProduct(elementsPerDevice, size);
  for (size_t atom = 0; atom < atoms.size(); ++atom)
    elementsPerDevice /= atoms[atom].size;
}

llvm::SmallVector<uint8_t, 4> ReshardSearch::findEqualBefore(size_t dim) const {
  llvm::SmallVector<uint8_t, 4> equal;
  if (!target.dims[dim].empty())
    return equal;
  for (size_t other = 0; other < dim; ++other)
    if (target.dims[other].empty() &&
        problem.source.padded[other] == problem.source.padded[dim] &&
        (problem.shape.empty() || problem.shape[other] == problem.shape[dim]))
      equal.push_back(other);
  return equal;
}

int64_t ReshardSearch::localElements(const State &state) const {
  int64_t elements = 1;
  llvm::ArrayRef<int64_t> sizes = problem.shape;
  if (sizes.empty())
    sizes = problem.source.padded;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    int64_t shards = atoms.numShards(state.dims[dim]);
    elements = countProduct(elements, (size + shards - 1) / shards);
  }
  return elements;
}

static bool isPrefix(llvm::ArrayRef<uint8_t> prefix,
                     llvm::ArrayRef<uint8_t> list) {
  return prefix.size() <= list.size() &&
         std::equal(prefix.begin(), prefix.end(), list.begin());
}

LeastCost ReshardSearch::lowerBound(const State &state) const {
  if (anyExcluded)
    return {};
  if (!problem.shape.empty())
    return unevenBound(state);
  ReshardExtent extent;
  for (auto [dim, size] : llvm::enumerate(problem.source.padded)) {
    llvm::ArrayRef<uint8_t> here = state.dims[dim], there = target.dims[dim];
    extent.addDim(size, atoms.numShards(here), targetShards[dim],
                  isPrefix(here, there) || isPrefix(there, here));
  }
  extent.parts = atoms.numShards(members(state.partial & ~target.partial));
  extent.elementsPerDevice = elementsPerDevice;
  return leastCost(extent);
}

/// The first device has the first elements of every dim, whatever the order of
/// axes.
LeastCost ReshardSearch::unevenBound(const State &state) const {
  int64_t there = localElements(target), overlap = 1;
  for (auto [dim, size] : llvm::enumerate(problem.shape)) {
    int64_t shards = std::max(atoms.numShards(state.dims[dim]),
                              atoms.numShards(target.dims[dim]));
    overlap = countProduct(overlap, llvm::divideCeil(size, shards));
  }
  bool isPartial = (state.partial & ~target.partial) != 0;
  double lacking = isPartial ? there : there - overlap;
  return lacking > 0 ? LeastCost{lacking, 1} : LeastCost();
}

bool ReshardSearch::canAppend(const State &state, int64_t dim,
                              int64_t shards) const {
  if (state.dims[dim].empty() &&
      llvm::any_of(equalBefore[dim],
                   [&](uint8_t other) { return state.dims[other].empty(); }))
    return false;
  return !problem.shape.empty() ||
         problem.source.padded[dim] %
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
// Direct moves
//===----------------------------------------------------------------------===//

Cost ReshardSearch::costOf(const Move &move, int64_t elements) const {
  return collectiveCost(move.kind, atoms.numShards(move.atoms),
                        countProduct(elements, problem.elementBytes));
}

double ReshardSearch::priceOf(const Move &move, int64_t elements) const {
  auto axes = llvm::map_to_vector<6>(
      move.atoms, [&](uint8_t atom) -> int64_t { return atoms[atom].axis; });
  return problem.costs.price(costOf(move, elements), axes);
}

ReshardSearch::Moves
ReshardSearch::settlingMoves(const State &state,
                             llvm::ArrayRef<int32_t> changed) const {
  uint64_t reduced = state.partial & ~target.partial;
  if (changed.empty())
    return {{StepKind::AllReduce, -1, -1, members(reduced)}};
  llvm::ArrayRef<uint8_t> here = state.dims[changed[0]],
                          there = target.dims[changed[0]];
  if (changed.size() > 1 || !isPrefix(here, there))
    return {};
  AtomList scattered(there.drop_front(here.size()));
  if (bits(scattered) != reduced)
    return {};
  return {{StepKind::ReduceScatter, changed[0], -1, scattered}};
}

/// By an all_to_all from dim `from` to dim `to`.
ReshardSearch::Moves ReshardSearch::exchange(const State &state, int32_t from,
                                             int32_t to) const {
  llvm::ArrayRef<uint8_t> given = state.dims[from], left = target.dims[from],
                          here = state.dims[to], there = target.dims[to];
  if (!isPrefix(left, given) || !isPrefix(here, there) ||
      given.drop_front(left.size()) != there.drop_front(here.size()))
    return {};
  return {
      {StepKind::AllToAll, from, to, AtomList(given.drop_front(left.size()))}};
}

ReshardSearch::Moves
ReshardSearch::permute(const State &state,
                       llvm::ArrayRef<int32_t> changed) const {
  uint64_t touched = 0;
  for (int32_t dim : changed) {
    if (atoms.numShards(state.dims[dim]) != atoms.numShards(target.dims[dim]))
      return {};
    touched |= bits(state.dims[dim]) | bits(target.dims[dim]);
  }
  return {{StepKind::Permute, -1, -1, members(touched)}};
}

ReshardSearch::Moves ReshardSearch::directMoves(const State &state) const {
  llvm::SmallVector<int32_t, 8> changed;
  bool sliced = true;
  for (int32_t dim = 0, rank = state.dims.size(); dim < rank; ++dim)
    if (state.dims[dim] != target.dims[dim]) {
      changed.push_back(dim);
      sliced &= isPrefix(state.dims[dim], target.dims[dim]);
    }
  if (state.partial != target.partial)
    return settlingMoves(state, changed);
  Moves moves;
  if (sliced) {
    for (int32_t dim : changed)
      moves.push_back(
          {StepKind::Slice, dim, -1,
           AtomList(target.dims[dim].drop_front(state.dims[dim].size()))});
    return moves;
  }
  int32_t first = changed[0];
  if (changed.size() == 1 && isPrefix(target.dims[first], state.dims[first]))
    return {
        {StepKind::AllGather, first, -1,
         AtomList(state.dims[first].drop_front(target.dims[first].size()))}};
  if (changed.size() == 2) {
    moves = exchange(state, first, changed[1]);
    if (moves.empty())
      moves = exchange(state, changed[1], first);
  }
  return moves.empty() ? permute(state, changed) : moves;
}

std::optional<Steps> ReshardSearch::findDirect() const {
  Moves moves;
  if (!anyExcluded)
    moves = directMoves(source);
  if (moves.empty())
    return std::nullopt;
  int64_t elements = localElements(source);
  Cost cost = costOf(moves.front(), elements);
  if (priceOf(moves.front(), elements) >
      problem.costs.leastPrice(cost.bytes, cost.steps))
    return std::nullopt;
  return llvm::map_to_vector<4>(
      moves, [&](const Move &move) { return toStep(move, target); });
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

void ReshardSearch::reach(Node &from, Move move,
                          llvm::function_ref<void(State &)> change) {
  if (!problem.shape.empty())
    return reachUneven(from, std::move(move), change);
  if (move.kind == StepKind::AllGather &&
      elements * atoms.numShards(move.atoms) > maxElements)
    return;
  std::pair<double, int64_t> cost(from.cost + priceOf(move, elements),
                                  from.depth + 1);
  if (cost.first > mostCost)
    return;
  scratch.state = from.state;
  change(scratch.state);
  enter(from, std::move(move), cost);
}

void ReshardSearch::reachUneven(Node &from, Move move,
                                llvm::function_ref<void(State &)> change) {
  // The collective sends at least what a device has; windows come on top.
  double least = from.cost + priceOf(move, elements);
  if (least > mostCost)
    return;
  scratch.state = from.state;
  change(scratch.state);
  if (localElements(scratch.state) > maxElements ||
      !isWorthwhile({least, from.depth + 1}))
    return;
  double cost = from.cost + realPrice(from.state, move, scratch.state);
  if (cost <= mostCost)
    enter(from, std::move(move), {cost, from.depth + 1});
}

llvm::SmallVector<AxisList, 4> ReshardSearch::axesOf(const State &state) const {
  llvm::SmallVector<AxisList, 4> axes;
  for (size_t dim = 0; dim < state.dims.size(); ++dim)
    axes.push_back(atoms.toAxes(state.dims[dim]));
  return axes;
}

double ReshardSearch::realPrice(const State &from, const Move &move,
                                const State &to) {
  PricedShard shard(problem.mesh, axesOf(from), problem.shape,
                    problem.elementBytes, windows);
  simulateStep(toStep(move, to), shard);
  double price = 0;
  for (const LocalCollective &collective : shard.collectives())
    price += collective.price(problem.costs);
  return price;
}

bool ReshardSearch::isWorthwhile(std::pair<double, int64_t> cost) {
  scratch.hash = scratch.state.hash();
  auto place = known.find(&scratch);
  sameState = place == known.end() ? nullptr : *place;
  if (sameState && cost >= std::pair(sameState->cost, sameState->depth))
    return false;
  LeastCost least = lowerBound(scratch.state);
  scratch.rest = least.elements * problem.elementBytes;
  return cost.first + problem.costs.leastPrice(scratch.rest, least.steps) <=
         mostCost;
}

void ReshardSearch::enter(Node &from, Move move,
                          std::pair<double, int64_t> cost) {
  ++numSeen;
  if (!isWorthwhile(cost))
    return;
  Node *node = sameState;
  if (!node) {
    node = &nodes.emplace_back(scratch);
    known.insert(node);
  }
  std::tie(node->cost, node->depth) = cost;
  node->move = std::move(move);
  node->parent = &from;
  node->done = false;
  queue.emplace(node->cost + node->rest, node->depth, numEntries++, node);
  boundByDirectMoves(*node);
}

void ReshardSearch::boundByDirectMoves(const Node &node) {
  if (anyExcluded || !problem.shape.empty())
    return;
  double cost = node.cost;
  Moves moves = directMoves(node.state);
  for (const Move &move : moves)
    cost += priceOf(move, localElements(node.state));
  if (!moves.empty() || node.state == target)
    mostCost = std::min(mostCost, cost * (1 + kPriceRounding));
}

void ReshardSearch::tryScatter(Node &node, AtomList &order, uint64_t left) {
  for (uint8_t atom : members(left)) {
    order.push_back(atom);
    for (size_t dim = 0; dim < node.state.dims.size(); ++dim) {
      if (!canAppend(node.state, dim, atoms.numShards(order)))
        continue;
      reach(node,
            {StepKind::ReduceScatter, static_cast<int32_t>(dim), -1, order},
            [&](State &state) {
              state.partial &= ~bits(order);
              state.dims.append(dim, order);
            });
    }
    tryScatter(node, order, left & ~bit(atom));
    order.pop_back();
  }
}

void ReshardSearch::tryReductions(Node &node) {
  uint64_t reduced = node.state.partial & ~target.partial;
  for (uint64_t set = reduced; set != 0; set = (set - 1) & reduced)
    reach(node, {StepKind::AllReduce, -1, -1, members(set)},
          [&](State &state) { state.partial &= ~set; });
  AtomList order;
  tryScatter(node, order, reduced);
}

void ReshardSearch::trySuffixes(Node &node) {
  int32_t rank = node.state.dims.size();
  for (int32_t dim = 0; dim < rank; ++dim) {
    llvm::ArrayRef<uint8_t> axes = node.state.dims[dim];
    for (size_t count = 1; count <= axes.size(); ++count) {
      AtomList suffix(axes.take_back(count));
      for (int32_t to = 0; to < rank; ++to) {
        if (to == dim || !canAppend(node.state, to, atoms.numShards(suffix)))
          continue;
        reach(node, {StepKind::AllToAll, dim, to, suffix}, [&](State &state) {
          state.dims.dropBack(dim, count);
          state.dims.append(to, suffix);
        });
      }
      reach(node, {StepKind::AllGather, dim, -1, suffix},
            [&](State &state) { state.dims.dropBack(dim, count); });
    }
  }
}

void ReshardSearch::trySlice(Node &node, int32_t dim, AtomList &order,
                             uint64_t free) {
  for (uint8_t atom : members(free)) {
    order.push_back(atom);
    reach(node, {StepKind::Slice, dim, -1, order},
          [&](State &state) { state.dims.append(dim, order); });
    trySlice(node, dim, order, free & ~bit(atom) & ~excluded[atom]);
    order.pop_back();
  }
}

void ReshardSearch::trySlices(Node &node) {
  uint64_t inUse = used(node.state);
  if (!problem.shape.empty()) {
    uint64_t free = slicable & ~inUse;
    for (uint8_t atom : members(inUse))
      free &= ~excluded[atom];
    AtomList order;
    for (size_t dim = 0; dim < node.state.dims.size(); ++dim)
      if (canAppend(node.state, dim, 1))
        trySlice(node, static_cast<int32_t>(dim), order, free);
    return;
  }
  // What takes its place in the target is sliced before anything else is: no
  // step is dearer for it.
  for (size_t dim = 0; dim < node.state.dims.size(); ++dim) {
    llvm::ArrayRef<uint8_t> here = node.state.dims[dim],
                            there = target.dims[dim];
    if (here.size() == there.size() || !isPrefix(here, there))
      continue;
    uint8_t atom = there[here.size()];
    if (!(bit(atom) & inUse) && !(excluded[atom] & inUse))
      return reach(node,
                   {StepKind::Slice, static_cast<int32_t>(dim), -1, {atom}},
                   [&](State &state) { state.dims.append(dim, atom); });
  }
  for (uint8_t atom : members(slicable & ~inUse)) {
    if (excluded[atom] & inUse)
      continue;
    for (size_t dim = 0; dim < node.state.dims.size(); ++dim) {
      if (!canAppend(node.state, dim, atoms[atom].size))
        continue;
      reach(node, {StepKind::Slice, static_cast<int32_t>(dim), -1, {atom}},
            [&](State &state) { state.dims.append(dim, atom); });
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
      reach(node, {StepKind::Permute, -1, -1, members(touched)},
            [&](State &state) { state.dims = next.dims; });
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
  // Two permutes in a row are one, and one sends what a device has.
  Cost cost = collectiveCost(StepKind::Permute, /*groupSize=*/2,
                             countProduct(elements, problem.elementBytes));
  if ((node.parent && node.move.kind == StepKind::Permute) ||
      node.cost + problem.costs.leastPrice(cost.bytes, cost.steps) > mostCost)
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

Step ReshardSearch::toStep(const Move &move, const State &state) const {
  Step step;
  step.kind = move.kind;
  step.dim = move.dim;
  step.targetDim = move.targetDim;
  step.axes = atoms.toAxes(move.atoms);
  if (move.kind == StepKind::AllReduce)
    step.axes = step.axes.sorted();
  if (move.kind == StepKind::Permute) {
    step.axes = spannedBy(llvm::map_to_vector<8>(
        move.atoms, [&](uint8_t atom) { return atoms[atom]; }));
    for (size_t dim = 0; dim < state.dims.size(); ++dim)
      step.after.dims.push_back(atoms.toAxes(state.dims[dim]));
  }
  if (move.kind == StepKind::AllReduce || move.kind == StepKind::ReduceScatter)
    step.reduction = problem.source.kind;
  return step;
}

/// So many have layouts enough that a second search pays off.
static constexpr size_t kManyAtoms = 4;
std::optional<Steps> ReshardSearch::run(int64_t maxElements, int64_t budget,
                                        Permutes permutes, bool &gaveUp) {
  mostCost = ceiling;
  // The best of the few layouts bounds what is worth a look among the many.
  bool ignored = false;
  if (permutes == Permutes::Any && atoms.size() >= kManyAtoms &&
      run(maxElements, budget, Permutes::ToTarget, ignored))
    mostCost = std::min(mostCost, planCost * (1 + kPriceRounding));
  this->maxElements = maxElements;
  this->permutes = permutes;
  numEntries = numSeen = 0;
  known.clear();
  nodes.clear();
  queue = {};
  nodes.emplace_back().state = source;
  nodes.back().hash = source.hash();
  known.insert(&nodes.back());
  queue.emplace(0, 0, numEntries++, &nodes.back());
  boundByDirectMoves(nodes.back());

  while (!queue.empty()) {
    Node *node = std::get<Node *>(queue.top());
    queue.pop();
    if (node->done)
      continue;
    node->done = true;
    if (node->state == target) {
      planCost = node->cost;
      Steps steps;
      for (; node->parent; node = node->parent)
        steps.push_back(toStep(node->move, node->state));
      std::reverse(steps.begin(), steps.end());
      return steps;
    }
    if (numSeen > budget) {
      gaveUp = true;
      return std::nullopt;
    }
    expand(*node);
  }
  return std::nullopt;
}

} // namespace shardonnay
