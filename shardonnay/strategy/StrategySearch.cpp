//===- StrategySearch.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// StrategySearch::run, in order:
//   1. the voted strategy and its price; where nothing can be below, it stays
//   2. `collectAxes`: the axes to distribute
//   3. where the space is small, `distribute`: each axis to each factor or to
//      none, and `tryOrders`: the orders of the axes of one factor; else
//      `climb`: from the voted one to what differs in little and is cheaper,
//      in two axes only where nothing that differs in less is
//   4. `isAllowed`: lawful, not too much repeated, in whatever order, and by
//      StrategyBound.h not too expensive; then `consider`, with a closer bound
//   5. `priceBest`: by their bounds, the first of the cheapest
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/StrategySearch.h"
#include "shardonnay/plan/Refinement.h"
#include "shardonnay/strategy/Vote.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace llvm;

namespace shardonnay {

/// How many axes of one factor are tried in every order.
static constexpr size_t kMostPermuted = 3;

OpSolver::Solution StrategySearch::run() {
  best = voteStrategy(VoteProblem{problem.rule, rows, problem.contraction});
  std::optional<double> voted =
      solver.price(problem, best, HUGE_VAL, requiredLayouts);
  if (!voted || *voted == 0)
    return {best, voted};
  bool isAll = collectAxes();
  if (axes.empty() || *voted <= leastOwnPrice())
    return {best, voted};
  limitWork();
  mostPrice = *voted;
  cheapest = {{*voted, -1}};
  if (isAll) {
    enumerateAll();
    pricePlacements(1);
  } else {
    climb();
  }
  auto [price, number] = cheapest.front();
  if (number < 0)
    return {best, price};
  const FactorStrategy &strategy = found[number].second;
  return {strategy, price, repeatsWork(problem.rule, strategy, best)};
}

std::optional<OpSolver::OtherStrategy>
StrategySearch::runWithout(const FactorStrategy &taken) {
  best = taken;
  bool isAll = collectAxes();
  excluded = &taken;
  mostPoints = HUGE_VAL;
  if (isAll) {
    enumerateAll();
    pricePlacements(1);
  } else {
    for (const FactorStrategy &other :
         nearbyStrategies(problem.rule, rows, taken))
      considerIfAllowed(other);
    priceBest(1);
  }
  if (cheapest.empty())
    return std::nullopt;
  auto [price, number] = cheapest.front();
  return OpSolver::OtherStrategy{found[number].second, price, isAll};
}

std::vector<FactorStrategy>
StrategySearch::runAll(const FactorStrategy &taken) {
  std::vector<FactorStrategy> result = {taken};
  best = voteStrategy(VoteProblem{problem.rule, rows, problem.contraction});
  if (!collectAxes())
    return result;
  excluded = &taken;
  limitWork();
  enumerateAll();
  pricePlacements(kMostStrategies - 1);
  for (auto [price, number] : cheapest)
    result.push_back(found[number].second);
  return result;
}

void StrategySearch::enumerateAll() {
  size_t numFactors = problem.rule.factors.size();
  StrategyBound::Placed nowhere;
  nowhere.places.assign(numFactors, 0);
  nowhere.shards.assign(numFactors, 1);
  shardsLeft.assign(axes.size() + 1, 1);
  for (size_t i = axes.size(); i-- > 0;)
    shardsLeft[i] = shardsLeft[i + 1] * static_cast<double>(axes[i].size);
  distribute(0, localPoints(problem.rule, nowhere.shards), nowhere);
}

void StrategySearch::climb() {
  FactorStrategy taken = best;
  bool triedVoted = false;
  for (int step = 0; step < kMostSteps; ++step) {
    int64_t before = cheapest.front().second;
    auto isBeaten = [&] { return cheapest.front().second != before; };
    for (const FactorStrategy &other :
         nearbyStrategies(problem.rule, rows, taken))
      considerIfAllowed(other);
    considerMoves(taken);
    considerUnions(taken);
    priceBest(1, kMostPriced);
    if (!isBeaten()) {
      considerPairs(taken);
      if (!triedVoted && taken != best)
        considerPairs(best);
      triedVoted = true;
      priceBest(1, kMostPriced);
    }
    if (!isBeaten())
      return;
    auto [price, number] = cheapest.front();
    mostPrice = price;
    taken = found[number].second;
  }
}

std::optional<StrategyBound::Placed>
StrategySearch::placedBy(const FactorStrategy &strategy) {
  return hasBound() ? bound->placedBy(strategy) : std::nullopt;
}

void StrategySearch::considerMoves(const FactorStrategy &taken) {
  std::optional<StrategyBound::Placed> placed = placedBy(taken);
  for (size_t axis = 0; axis < axes.size(); ++axis)
    considerMoves(axis, taken, placed);
}

void StrategySearch::considerPairs(const FactorStrategy &taken) {
  std::optional<StrategyBound::Placed> placed = placedBy(taken);
  for (size_t a = 0; a < axes.size(); ++a)
    for (size_t b = a + 1; b < axes.size(); ++b)
      considerPair(a, b, taken, placed);
}

void StrategySearch::considerMoves(
    size_t number, const FactorStrategy &taken,
    const std::optional<StrategyBound::Placed> &placed) {
  AxisRef axis = axes[number];
  FactorStrategy without = taken;
  for (AxisList &list : without)
    list = list.subtract(AxisList({axis}));
  considerIfAllowed(without);
  for (auto [f, factor] : enumerate(problem.rule.factors)) {
    AxisList &list = without[f];
    if (!canBeSharded(factor) ||
        factor.size % (list.numShards() * axis.size) != 0)
      continue;
    if (placed) {
      StrategyBound::Placed moved = *placed;
      bound->take(number, moved);
      bound->put(number, static_cast<int32_t>(f), moved);
      if (!leastOf(moved))
        continue;
    }
    AxisList before = list, first({axis});
    list.append(axis);
    considerIfAllowed(without);
    if (!before.empty()) {
      first.append(before);
      list = first;
      considerIfAllowed(without);
    }
    list = before;
  }
}

void StrategySearch::considerPair(
    size_t a, size_t b, const FactorStrategy &taken,
    const std::optional<StrategyBound::Placed> &placed) {
  StrategyBound::Placed without;
  if (placed) {
    without = *placed;
    bound->take(a, without);
    bound->take(b, without);
  }
  const AxisList both[] = {AxisList({axes[a]}), AxisList({axes[b]})};
  FactorStrategy strategy = taken;
  for (AxisList &list : strategy)
    list = list.subtract(both[0]).subtract(both[1]);
  // An axis is then where it is if the other alone moves.
  auto stays = [&](int32_t f, int axis) {
    AxisList list = strategy[f];
    list.append(axes[axis == 0 ? a : b]);
    return list == taken[f].subtract(both[1 - axis]);
  };
  SmallVector<bool, 8> aStays, bStays;
  for (int32_t f = 0, e = taken.size(); f < e; ++f) {
    aStays.push_back(stays(f, 0));
    bStays.push_back(stays(f, 1));
  }
  // With a bound it has been asked already.
  auto propose = [&](int32_t first, AxisRef axis, int32_t second,
                     AxisRef other) {
    AxisList before[] = {strategy[first], strategy[second]};
    strategy[first].append(axis);
    strategy[second].append(other);
    placed ? consider(strategy) : considerIfAllowed(strategy);
    strategy[second] = before[1];
    strategy[first] = before[0];
  };
  for (int32_t f = 0, e = taken.size(); f < e; ++f)
    for (int32_t g = 0; g < e; ++g) {
      bool isNew = !aStays[f] && (f == g || !bStays[g]),
           isNewSwapped = f == g && !bStays[g];
      if ((!isNew && !isNewSwapped) || !canBeSharded(problem.rule.factors[f]) ||
          !canBeSharded(problem.rule.factors[g]))
        continue;
      // Most are too expensive, and are not made then.
      if (placed) {
        StrategyBound::Placed moved = without;
        bound->put(a, f, moved);
        bound->put(b, g, moved);
        if (!leastOf(moved))
          continue;
      }
      if (isNew)
        propose(f, axes[a], g, axes[b]);
      if (isNewSwapped)
        propose(f, axes[b], g, axes[a]);
    }
}

void StrategySearch::considerUnions(const FactorStrategy &taken) {
  SmallVector<int32_t, 4> sharded;
  for (int32_t f = 0, e = taken.size(); f < e; ++f)
    if (!taken[f].empty())
      sharded.push_back(f);
  if (sharded.size() > kMostPermuted)
    return;
  FactorStrategy strategy(taken.size());
  do {
    AxisList all;
    for (int32_t f : sharded)
      all.append(taken[f]);
    for (auto [f, factor] : enumerate(problem.rule.factors)) {
      if (!canBeSharded(factor) || factor.size % all.numShards() != 0)
        continue;
      strategy[f] = all;
      considerIfAllowed(strategy);
      strategy[f] = AxisList();
    }
  } while (std::next_permutation(sharded.begin(), sharded.end()));
}

double StrategySearch::leastOwnPrice() const {
  double shards = 1, bytes = 0;
  for (AxisRef axis : axes)
    shards *= static_cast<double>(axis.size);
  for (const VoteTensor &tensor : rows)
    bytes += static_cast<double>(tensor.bytes);
  FactorStrategy whole(problem.rule.factors.size());
  return solver.prices().computePrice(localFlops(problem, whole) / shards,
                                      movedBytes(problem, bytes / shards));
}

/// Sets how much a device may compute, by `best`, the voted strategy.
void StrategySearch::limitWork() {
  mostPoints = kRepeatedWork * localPoints(problem.rule, best);
  if (problem.contraction) {
    if (operandsAgree())
      kept = best;
    return;
  }
  if (problem.rule.exchanges() || solver.mayRepeat(problem))
    mostPoints = HUGE_VAL;
  else if (!needsWhole(problem.rule))
    mostPoints = std::max(mostPoints, pointsHeld());
}

/// The points of the largest result on a device, as it is wanted.
double StrategySearch::pointsHeld() const {
  double most = 0;
  for (const OpTensor &result :
       ArrayRef(problem.tensors).drop_front(problem.rule.operands.size())) {
    double points = 1;
    for (auto [size, dim] : zip_equal(result.shape, result.sharding.dims))
      points *= static_cast<double>(size) / dim.axes.numShards();
    most = std::max(most, points);
  }
  return most;
}

bool StrategySearch::operandsAgree() const {
  for (size_t i = 0; i < problem.rule.operands.size(); ++i) {
    const OpTensor &tensor = problem.tensors[i];
    TensorSharding needed = shardingUnder(best, problem.rule, i);
    if (!tensor.free && !all_of_zip(needed.dims, tensor.sharding.dims,
                                    [](const auto &a, const auto &b) {
                                      return a.axes == b.axes;
                                    }))
      return false;
  }
  return true;
}

bool StrategySearch::collectAxes() {
  SmallVector<AxisRef, 6> all;
  for (const VoteTensor &tensor : rows)
    for (const FactorSharding &cell : tensor.row.factors)
      if (!tensor.free)
        append_range(all, cell.axes);
  for (const AxisList &list : best)
    append_range(all, list);
  if (!splitAtBoundaries(all, axes)) {
    axes.clear();
    return false;
  }
  if (problem.contraction)
    for (AxisRef axis : mesh.allAxes())
      if (axis.size > 1 && !problem.manual.excludes(axis) &&
          none_of(axes, [&](AxisRef other) { return other.axis == axis.axis; }))
        idle.push_back(axis);
  axes.append(idle);
  auto cuttable = count_if(problem.rule.factors, canBeSharded);
  return std::pow(cuttable + 1, axes.size()) <= kStrategyBudget;
}

bool StrategySearch::computesTooMuch(size_t axis, double points) const {
  double least = points / shardsLeft[axis];
  if (roundedDown(least) > mostPoints)
    return true;
  return problem.contraction &&
         roundedDown(solver.prices().computePrice(2 * least, 0)) > mostPrice;
}

/// Nine in ten are not allowed, so only the others are made.
FactorStrategy
StrategySearch::strategyOf(const StrategyBound::Placed &placed) const {
  FactorStrategy strategy(placed.places.size());
  for (auto [list, places] : zip_equal(strategy, placed.places))
    for (uint64_t left = places; left != 0; left &= left - 1)
      list.append(axes[countr_zero(left)]);
  return strategy;
}

void StrategySearch::distribute(size_t axis, double points,
                                StrategyBound::Placed &placed) {
  if (computesTooMuch(axis, points))
    return;
  if (axis == axes.size()) {
    if (std::optional<double> least = leastOf(placed))
      placements.emplace_back(*least, placed);
    return;
  }
  distribute(axis + 1, points, placed);
  int64_t size = axes[axis].size;
  for (auto [f, factor] : enumerate(problem.rule.factors)) {
    if (!canBeSharded(factor) || factor.size % (placed.shards[f] * size) != 0)
      continue;
    placed.shards[f] *= size;
    placed.places[f] ^= uint64_t(1) << axis;
    distribute(axis + 1, points / static_cast<double>(size), placed);
    placed.places[f] ^= uint64_t(1) << axis;
    placed.shards[f] /= size;
  }
}

/// No axis, or one of which no tensor has only a part.
bool StrategySearch::hasOneOrder(int32_t factor, const AxisList &here) const {
  return here.empty() ||
         (here.size() == 1 && none_of(rows, [&](const VoteTensor &tensor) {
            return any_of(tensor.row.factors[factor].axes, [&](AxisRef axis) {
              return axis != here[0] && axis.overlaps(here[0]);
            });
          }));
}

void StrategySearch::tryOrders(int32_t factor, FactorStrategy &strategy) {
  while (factor < static_cast<int32_t>(strategy.size()) &&
         hasOneOrder(factor, strategy[factor]))
    ++factor;
  if (factor == static_cast<int32_t>(strategy.size()))
    return consider(strategy);
  AxisList here = strategy[factor].sorted();
  SmallVector<AxisList, 4> orders = {here};
  // What nothing uses is best sliced before the others move.
  AxisList idleFirst;
  for (AxisRef axis : here)
    if (is_contained(idle, axis))
      idleFirst.append(axis);
  if (!idleFirst.empty()) {
    idleFirst.append(here.subtract(idleFirst));
    if (idleFirst != here)
      orders.push_back(idleFirst);
  }
  for (const VoteTensor &tensor : rows) {
    const FactorSharding &cell = tensor.row.factors[factor];
    AxisList order;
    for (AxisRef axis : cell.axes)
      if (here.covers(axis))
        order.append(axis);
    AxisList rest = here.subtract(order);
    order.append(rest);
    if (!is_contained(orders, order))
      orders.push_back(order);
  }
  if (here.size() <= kMostPermuted) {
    SmallVector<AxisRef, 4> order(here.refs());
    while (std::next_permutation(order.begin(), order.end()))
      if (!is_contained(orders, AxisList(order)))
        orders.push_back(AxisList(order));
  }
  AxisList before = strategy[factor];
  for (const AxisList &order : orders) {
    strategy[factor] = order;
    tryOrders(factor + 1, strategy);
  }
  strategy[factor] = before;
}

bool StrategySearch::hasBound() {
  if (mostPrice == HUGE_VAL || axes.size() > StrategyBound::kMostAxes)
    return false;
  if (!bound)
    bound.emplace(problem, axes, solver.prices());
  return true;
}

bool StrategySearch::isAllowed(const FactorStrategy &strategy) {
  SmallVector<int64_t, 8> shards = shardsOf(strategy);
  if (!mayHaveShards(shards, problem.rule) ||
      localPoints(problem.rule, shards) > mostPoints ||
      !isLawful(strategy, problem.rule))
    return false;
  return !hasBound() ||
         roundedDown(bound->least(strategy, localFlops(problem, shards),
                                  mostPrice)) <= mostPrice;
}

std::optional<double>
StrategySearch::leastOf(const StrategyBound::Placed &placed) {
  if (!mayHaveShards(placed.shards, problem.rule) ||
      localPoints(problem.rule, placed.shards) > mostPoints)
    return std::nullopt;
  if (!hasBound())
    return 0;
  double least = roundedDown(
      bound->least(placed, localFlops(problem, placed.shards), mostPrice));
  return least <= mostPrice ? std::optional(least) : std::nullopt;
}

void StrategySearch::considerIfAllowed(const FactorStrategy &strategy) {
  if (isAllowed(strategy))
    consider(strategy);
}

void StrategySearch::consider(const FactorStrategy &strategy) {
  if (excluded && strategy == *excluded)
    return;
  for (auto [before, after] : zip(kept, strategy))
    if (!before.isPrefixOf(after))
      return;
  double least =
      solver.leastPrice(problem, strategy, mostPrice, requiredLayouts);
  if (least <= mostPrice)
    found.try_emplace(nextNumber++, least, strategy);
}

void StrategySearch::priceBest(size_t most, size_t numPriced) {
  std::vector<std::pair<double, int64_t>> order;
  for (; numOrdered < nextNumber; ++numOrdered)
    order.emplace_back(found[numOrdered].first, numOrdered);
  llvm::sort(order);
  for (auto [least, number] : order) {
    if (least > limitOf(most) || numPriced-- == 0)
      return;
    price(number, most);
  }
}

double StrategySearch::limitOf(size_t most) const {
  return cheapest.size() < most ? HUGE_VAL : cheapest.back().first;
}

void StrategySearch::price(int64_t number, size_t most) {
  // One of equal price may be earlier.
  std::optional<double> price =
      solver.price(problem, found[number].second,
                   std::nextafter(limitOf(most), HUGE_VAL), requiredLayouts);
  if (!price)
    return;
  std::pair<double, int64_t> entry(*price, number);
  cheapest.insert(llvm::upper_bound(cheapest, entry), entry);
  if (cheapest.size() > most)
    cheapest.pop_back();
}

void StrategySearch::pricePlacements(size_t most) {
  // Bounds and numbers.
  using Entry = std::pair<double, int64_t>;
  std::vector<Entry> order;
  for (auto [number, placement] : enumerate(placements))
    order.emplace_back(placement.first, number);
  llvm::sort(order);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  ArrayRef<Entry> closed = order;
  while (true) {
    double limit = limitOf(most);
    mostPrice = std::min(mostPrice, limit);
    double next = open.empty() ? limit : std::min(limit, open.top().first);
    if (!closed.empty() && closed.front().first <= next) {
      // Numbers are those of the enumeration: of equals its first is taken.
      int64_t first = closed.front().second << 32;
      nextNumber = first;
      FactorStrategy strategy =
          strategyOf(placements[closed.front().second].second);
      tryOrders(0, strategy);
      for (int64_t number = first; number < nextNumber; ++number)
        open.emplace(found[number].first, number);
      closed = closed.drop_front();
    } else if (!open.empty() && open.top().first <= limit) {
      int64_t number = open.top().second;
      open.pop();
      price(number, most);
    } else {
      return;
    }
  }
}

} // namespace shardonnay
