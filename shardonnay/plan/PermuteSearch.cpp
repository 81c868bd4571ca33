//===- PermuteSearch.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/PermuteSearch.h"

#include "shardonnay/algebra/Counts.h"
#include "shardonnay/plan/Refinement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <numeric>

namespace shardonnay {

/// Takes axes of `shards` in all from the front of `pool`, in parts where whole
/// ones are too large; nothing where the parts do not fit.
static std::optional<AxisList> takeFrom(AxisList &pool, int64_t shards) {
  AxisList taken, rest;
  for (AxisRef axis : pool) {
    int64_t size = std::gcd(axis.size, shards);
    if (size > 1)
      taken.append(AxisRef{axis.axis, axis.pre, size});
    if (size < axis.size)
      rest.append(AxisRef{axis.axis, axis.pre * size, axis.size / size});
    shards /= size;
  }
  if (shards != 1)
    return std::nullopt;
  pool = rest;
  return taken;
}

PermuteSearch::PermuteSearch(const ReshardProblem &problem) : problem(problem) {
  AxisList wanted, used = problem.source.usedAxes();
  for (const AxisList &axes : problem.target.dims)
    wanted.append(axes);
  source.dims = problem.source.dims;
  for (const AxisList &axes : source.dims)
    source.counts.push_back(axes.numShards());
  source.partial = problem.source.partial.subtract(problem.target.partial);
  source.free = wanted.subtract(used);
  source.elements = problem.source.localElements();
  dropped = used.subtract(problem.target.usedAxes());
  Cost permute = collectiveCost(
      CollectiveKind::Permute, /*groupSize=*/2,
      countProduct(problem.target.localElements(), problem.elementBytes));
  leastRest =
      roundedDown(problem.costs.leastPrice(permute.bytes, permute.steps));
}

double PermuteSearch::priceOf(CollectiveKind kind, const AxisList &axes,
                              int64_t elements) const {
  Cost cost = collectiveCost(kind, axes.numShards(),
                             countProduct(elements, problem.elementBytes));
  return problem.costs.price(
      cost, llvm::map_to_vector<6>(
                axes, [](AxisRef axis) -> int64_t { return axis.axis; }));
}

double PermuteSearch::priceOf(const Steps &list, int64_t elements) const {
  double price = 0;
  for (const Step &step : list) {
    price += priceOf(step.kind, step.axes, elements);
    if (step.kind == CollectiveKind::AllGather)
      elements = countProduct(elements, step.axes.numShards());
  }
  return price;
}

int64_t PermuteSearch::lackOf(const State &state, int64_t dim) const {
  int64_t there = problem.target.dims[dim].numShards();
  return there / std::gcd(state.counts[dim], there);
}

int64_t PermuteSearch::excessOf(const State &state, int64_t dim) const {
  int64_t here = state.counts[dim];
  return here / std::gcd(here, problem.target.dims[dim].numShards());
}

bool PermuteSearch::divides(const State &state, int64_t dim,
                            int64_t shards) const {
  int64_t size = problem.source.padded[dim];
  return size % (state.dims[dim].numShards() * shards) == 0 &&
         size % (state.counts[dim] * shards) == 0;
}

llvm::SmallVector<int64_t, 2>
PermuteSearch::partsToAdd(const State &state, int64_t dim, int64_t all) const {
  llvm::SmallVector<int64_t, 2> parts;
  for (int64_t shards : {std::gcd(lackOf(state, dim), all), all})
    if (shards > 1 && divides(state, dim, shards) &&
        !llvm::is_contained(parts, shards))
      parts.push_back(shards);
  return parts;
}

std::optional<Steps> PermuteSearch::run(double mostCost) {
  bestCost = mostCost;
  best.clear();
  known.clear();
  visit(source);
  if (best.empty())
    return std::nullopt;
  return best;
}

void PermuteSearch::visit(const State &state) {
  double cost = state.cost + state.deferredCost;
  if (cost + leastRest >= bestCost)
    return;
  std::vector<int64_t> key(state.counts.begin(), state.counts.end());
  key.push_back(state.partial.numShards());
  auto [entry, isNew] = known.try_emplace(std::move(key), cost);
  if (!isNew && entry->second <= cost)
    return;
  entry->second = cost;
  trySlices(state);
  tryPermute(state);
  tryReductions(state);
  tryExchanges(state);
}

void PermuteSearch::follow(State next, Step step, int64_t elementsBefore) {
  next.cost += priceOf(step.kind, step.axes, elementsBefore);
  steps.push_back(std::move(step));
  visit(next);
  steps.pop_back();
}

void PermuteSearch::trySlices(const State &state) {
  int64_t free = state.free.numShards();
  for (int64_t dim = 0, rank = state.dims.size(); dim < rank; ++dim)
    for (int64_t shards : partsToAdd(state, dim, free)) {
      State next = state;
      std::optional<AxisList> axes = takeFrom(next.free, shards);
      if (!axes)
        continue;
      next.dims[dim].append(*axes);
      next.counts[dim] *= shards;
      next.elements /= shards;
      follow(
          std::move(next),
          {CollectiveKind::Slice, dim, -1, *axes, ReductionKind::Sum, Layout()},
          state.elements);
    }
}

void PermuteSearch::tryReductions(const State &state) {
  int64_t reduced = state.partial.numShards();
  if (reduced == 1)
    return;
  for (int64_t dim = 0, rank = state.dims.size(); dim < rank; ++dim)
    for (int64_t shards : partsToAdd(state, dim, reduced)) {
      State next = state;
      std::optional<AxisList> axes = takeFrom(next.partial, shards);
      if (!axes)
        continue;
      next.dims[dim].append(*axes);
      next.counts[dim] *= shards;
      next.elements /= shards;
      follow(std::move(next),
             {CollectiveKind::ReduceScatter, dim, -1, *axes,
              problem.source.kind, Layout()},
             state.elements);
    }
  State next = state;
  next.partial = AxisList();
  follow(std::move(next),
         {CollectiveKind::AllReduce, -1, -1, state.partial.sorted(),
          problem.source.kind, Layout()},
         state.elements);
}

/// The shards of the last axes of `list`, as many as it takes for `shards` to
/// divide them; 0 if all do not.
static int64_t wholeAxesOf(const AxisList &list, int64_t shards) {
  int64_t suffix = 1;
  for (AxisRef axis : llvm::reverse(list))
    if (suffix *= axis.size; suffix % shards == 0)
      return suffix;
  return 0;
}

void PermuteSearch::tryExchanges(const State &state) {
  for (int64_t from = 0, rank = state.dims.size(); from < rank; ++from)
    for (int64_t to = 0; to < rank; ++to) {
      int64_t shards = std::gcd(excessOf(state, from), lackOf(state, to));
      if (from == to || shards == 1)
        continue;
      if (state.dims[from].suffixOfSize(shards, nullptr)) {
        exchange(state, from, to, shards);
        continue;
      }
      if (int64_t more = wholeAxesOf(state.dims[from], shards))
        exchange(state, from, to, more);
      // Behind the permute it has to be a suffix in the target.
      if (problem.target.dims[to].suffixOfSize(shards, nullptr))
        deferExchange(state, from, to, shards);
    }
}

void PermuteSearch::exchange(const State &state, int64_t from, int64_t to,
                             int64_t shards) {
  if (state.counts[from] % shards != 0 || !divides(state, to, shards))
    return;
  State next = state;
  AxisList axes = *state.dims[from].suffixOfSize(shards, &next.dims[from]);
  next.dims[to].append(axes);
  next.counts[from] /= shards;
  next.counts[to] *= shards;
  follow(
      std::move(next),
      {CollectiveKind::AllToAll, from, to, axes, ReductionKind::Sum, Layout()},
      state.elements);
}

void PermuteSearch::deferExchange(const State &state, int64_t from, int64_t to,
                                  int64_t shards) {
  if (!divides(state, to, shards))
    return;
  State next = state;
  next.counts[from] /= shards;
  next.counts[to] *= shards;
  Cost cost = collectiveCost(CollectiveKind::AllToAll, shards,
                             state.elements * problem.elementBytes);
  next.deferred.push_back({from, to, shards});
  next.deferredCost += problem.costs.leastPrice(cost.bytes, cost.steps);
  visit(next);
}

std::optional<Steps>
PermuteSearch::gatherBehind(const State &state,
                            llvm::SmallVectorImpl<AxisList> &layout) {
  Steps gathers;
  AxisList pool = dropped;
  for (auto [dim, count] : llvm::enumerate(state.counts)) {
    AxisList &axes = layout.emplace_back(problem.target.dims[dim]);
    int64_t excess = excessOf(state, dim);
    std::optional<AxisList> behind = takeFrom(pool, excess);
    if (!behind || lackOf(state, dim) != 1)
      return std::nullopt;
    axes.append(*behind);
    if (excess > 1)
      gathers.push_back({CollectiveKind::AllGather, static_cast<int64_t>(dim),
                         -1, *behind, ReductionKind::Sum, Layout()});
  }
  return gathers;
}

std::optional<Steps>
PermuteSearch::exchangeBehind(const State &state,
                              llvm::SmallVectorImpl<AxisList> &layout) {
  Steps exchanges;
  for (const Exchange &exchange : llvm::reverse(state.deferred)) {
    std::optional<AxisList> axes =
        layout[exchange.to].suffixOfSize(exchange.shards, &layout[exchange.to]);
    if (!axes)
      return std::nullopt;
    layout[exchange.from].append(*axes);
    exchanges.push_back({CollectiveKind::AllToAll, exchange.from, exchange.to,
                         *axes, ReductionKind::Sum, Layout()});
  }
  std::reverse(exchanges.begin(), exchanges.end());
  return exchanges;
}

void PermuteSearch::tryPermute(const State &state) {
  if (!state.partial.empty())
    return;
  Step permute;
  permute.kind = CollectiveKind::Permute;
  llvm::SmallVector<AxisList, 4> &after = permute.after.dims;
  std::optional<Steps> gathers = gatherBehind(state, after);
  if (!gathers)
    return;
  std::optional<Steps> exchanges = exchangeBehind(state, after);
  if (!exchanges)
    return;
  llvm::SmallVector<AxisRef, 8> touched;
  for (auto [from, to] : llvm::zip_equal(state.dims, after))
    if (from != to) {
      llvm::append_range(touched, from);
      llvm::append_range(touched, to);
    }
  permute.axes = spannedBy(touched);
  double cost =
      state.cost + priceOf(permute.kind, permute.axes, state.elements) +
      priceOf(*exchanges, state.elements) + priceOf(*gathers, state.elements);
  if (touched.empty() || cost >= bestCost)
    return;
  bestCost = cost;
  best = steps;
  best.push_back(std::move(permute));
  best.append(*exchanges);
  best.append(*gathers);
}

} // namespace shardonnay
