//===- OpChoice.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Enumeration::run, in order:
//   1. the voted assignment and its price; where nothing can be below, it stays
//   2. `collectAxes`: the axes to distribute
//   3. `distribute`: each axis to each factor or to none
//   4. `tryOrders`: the orders of the axes of one factor
//   5. `consider`: lawful, not too much repeated; with a bound on its price
//   6. `settle`: by their bounds, the first of the cheapest
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/OpChoice.h"

#include "shardonnay/algebra/Counts.h"
#include "shardonnay/plan/Refinement.h"
#include "shardonnay/plan/TensorDemands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <cmath>
#include <deque>

using namespace llvm;

namespace shardonnay {

static SmallVector<AssignmentTensor, 4> rowsOf(const ChoiceProblem &problem) {
  SmallVector<AssignmentTensor, 4> rows;
  for (auto [i, tensor] : enumerate(problem.tensors)) {
    AssignmentTensor &row = rows.emplace_back();
    row.row =
        project(tensor.sharding, problem.rule.tensor(i), problem.rule.factors);
    row.bytes = tensor.elementBytes;
    for (int64_t size : tensor.shape)
      row.bytes = countProduct(row.bytes, size);
    row.free = tensor.free;
  }
  return rows;
}

FactorAssignment voteAssignment(const ChoiceProblem &problem) {
  return assignFactors({problem.rule, rowsOf(problem), problem.contraction});
}

/// The points of the factor space that one device computes.
static double localPoints(const FactorRule &rule,
                          const FactorAssignment &assignment) {
  double points = 1;
  for (auto [factor, axes] : zip_equal(rule.factors, assignment))
    points *= static_cast<double>(factor.size) / axes.numShards();
  return points;
}

bool repeatsWork(const ChoiceProblem &problem,
                 const FactorAssignment &assignment) {
  return localPoints(problem.rule, assignment) >
         kRepeatedWork * localPoints(problem.rule, voteAssignment(problem));
}

static bool hasFactor(const FactorRule &rule, FactorKind kind) {
  return any_of(rule.factors,
                [&](const Factor &factor) { return factor.kind == kind; });
}

/// What it does is known, by its kind and not by a rule alone, and is little.
/// A table that is looked up in is cut to be held in parts, where memory is
/// scarce.
static bool mayRepeat(const ChoiceProblem &problem, const MeshCosts &prices) {
  bool looksUp = hasFactor(problem.rule, FactorKind::Indexed);
  return prices.pricesCompute() && !problem.rule.custom &&
         problem.transformFlops == 0 && !(looksUp && prices.limitsMemory());
}

/// What one device has of the largest tensor.
static double localElements(const FactorRule &rule,
                            const FactorAssignment &assignment) {
  double most = 0;
  for (int64_t i = 0; i < rule.numTensors(); ++i) {
    double elements = 1;
    for (const DimFactors &factors : rule.tensor(i).dims)
      for (int32_t factor : factors)
        elements *= static_cast<double>(rule.factors[factor].size) /
                    assignment[factor].numShards();
    most = std::max(most, elements);
  }
  return most;
}

/// Of one device. An op that needs dims whole is taken to sort its tensors
/// along them: a step for each of log2(size). One whose results are exchanged
/// takes one. (A scatter has many updates and many places, but not each at
/// each.)
static double localFlops(const ChoiceProblem &problem,
                         const FactorAssignment &assignment) {
  double points = localPoints(problem.rule, assignment);
  if (problem.contraction)
    return 2 * points;
  if (problem.transformFlops > 0) {
    FactorAssignment whole(assignment.size());
    return problem.transformFlops * points / localPoints(problem.rule, whole);
  }
  double steps = 0;
  for (const Factor &factor : problem.rule.factors)
    if (factor.kind == FactorKind::NeedReplication && factor.size > 1)
      steps += std::log2(factor.size);
    else if (factor.exchanged)
      steps += 1;
  return kOrderingFlops * steps * localElements(problem.rule, assignment);
}

/// Between the layouts, padded alike.
static ReshardProblem problemBetween(const Mesh &mesh, const MeshCosts &costs,
                                     Layout source, Layout target,
                                     int64_t elementBytes) {
  alignPadding(source, target);
  return {mesh, std::move(source), std::move(target), elementBytes, costs};
}

std::optional<double> OpChooser::priceOfReshard(const Layout &source,
                                                const Layout &target,
                                                int64_t elementBytes) {
  std::string error;
  const ReshardPlan *plan = planner.plan(
      problemBetween(mesh, costs, source, target, elementBytes), error);
  return plan ? std::optional(plan->price) : std::nullopt;
}

/// Less what sums of prices are rounded by.
static double roundedDown(double price) {
  constexpr double kRounding = 1e-9;
  return price * (1 - kRounding);
}

OpChooser::Demand OpChooser::demandOf(const ChoiceProblem &problem,
                                      const FactorAssignment &assignment,
                                      double limit,
                                      TensorDemands &demands) const {
  Demand demand;
  double touched = 0, flops = localFlops(problem, assignment),
         least = costs.computePrice(flops, 0);
  if (roundedDown(least) > limit) {
    demand.ownPrice = HUGE_VAL;
    return demand;
  }
  TensorDemands::Numbers numbers = demands.numbersOf(assignment);
  SmallVector<TensorDemand *, 4> asked(problem.tensors.size());
  for (size_t i : demands.largestFirst()) {
    asked[i] = &demands.get(i, assignment, numbers);
    least += asked[i]->least;
    if (roundedDown(least) > limit) {
      demand.ownPrice = HUGE_VAL;
      return demand;
    }
  }
  for (auto [i, tensor] : enumerate(asked)) {
    touched += tensor->touched;
    if (!tensor->free)
      demand.reshards.emplace_back(i, tensor);
  }
  demand.ownPrice =
      costs.computePrice(flops, touched) + fetchPrice(problem, assignment);
  return demand;
}

double OpChooser::Demand::leastFrom(size_t first) const {
  double least = ownPrice;
  for (auto [number, asked] : drop_begin(reshards, first))
    least += asked->least;
  return roundedDown(least);
}

double OpChooser::leastPrice(const ChoiceProblem &problem,
                             const FactorAssignment &assignment, double limit,
                             TensorDemands &demands) const {
  return demandOf(problem, assignment, limit, demands).leastFrom(0);
}

std::optional<double> OpChooser::price(const ChoiceProblem &problem,
                                       const FactorAssignment &assignment,
                                       double limit) {
  TensorDemands demands(problem, costs);
  return price(problem, assignment, limit, demands);
}

std::optional<double> OpChooser::price(const ChoiceProblem &problem,
                                       const FactorAssignment &assignment,
                                       double limit, TensorDemands &demands) {
  Demand demand = demandOf(problem, assignment, limit, demands);
  double total = 0;
  for (auto [i, reshard] : enumerate(demand.reshards)) {
    if (total + demand.leastFrom(i) > limit)
      return std::nullopt;
    auto [number, asked] = reshard;
    if (!asked->price) {
      std::string error;
      const ReshardPlan *plan =
          planner.plan(demands.reshardOf(number, *asked, mesh), error);
      asked->price = plan ? plan->price : HUGE_VAL;
    }
    if (*asked->price == HUGE_VAL)
      return std::nullopt;
    total += *asked->price;
  }
  total += demand.ownPrice;
  return total < limit ? std::optional(total) : std::nullopt;
}

double OpChooser::ownPrice(const ChoiceProblem &problem,
                           const FactorAssignment &assignment) const {
  double touched = 0;
  for (size_t i = 0; i < problem.tensors.size(); ++i)
    touched += touchedBytes(problem, i, layoutUnder(problem, i, assignment));
  return costs.computePrice(localFlops(problem, assignment), touched) +
         fetchPrice(problem, assignment);
}

double OpChooser::fetchPrice(const ChoiceProblem &problem,
                             const FactorAssignment &assignment) const {
  if (!problem.rule.communicates())
    return 0;
  SmallVector<ArrayRef<int64_t>> shapes;
  SmallVector<int64_t> elementBytes;
  for (const ChoiceTensor &tensor : problem.tensors) {
    shapes.push_back(tensor.shape);
    elementBytes.push_back(tensor.elementBytes);
  }
  auto pricer = [&](const FactorWindow &, const WindowProblem &window,
                    int64_t sliceBytes) {
    return knownWindows.find(window, sliceBytes);
  };
  // What goes over all devices does so however the op is cut.
  double price = 0;
  for (const LocalCollective &fetch :
       fetchCollectives(mesh, problem.rule, assignment, shapes, elementBytes,
                        /*deviceAxes=*/AxisList(), pricer))
    price += fetch.price(costs);
  return price;
}

/// How many axes of one factor are tried in every order.
static constexpr size_t kMostPermuted = 3;

namespace {

class Enumeration {
public:
  Enumeration(OpChooser &chooser, const ChoiceProblem &problem,
              const Mesh &mesh)
      : chooser(chooser), problem(problem), mesh(mesh), rows(rowsOf(problem)),
        demands(problem, chooser.prices()) {}

  FactorAssignment run();
  std::optional<OpChooser::OtherCut> runWithout(const FactorAssignment &taken);
  std::vector<FactorAssignment> runAll(const FactorAssignment &taken);

private:
  /// Of every assignment: where the axes cut all that there is.
  double leastOwnPrice() const;
  void limitWork();
  double pointsHeld() const;
  /// The voted assignment takes the operands as they lie.
  bool operandsAgree() const;
  /// False if parts of an axis do not nest, which leaves `axes` empty, or all
  /// is too much to enumerate.
  bool collectAxes();
  void enumerateAll();
  /// From `best`, what differs in one thing, for as long as that is cheaper.
  void climb();
  /// The axes from `axis` on; `points` are those of `assignment` on a device.
  void distribute(size_t axis, double points, FactorAssignment &assignment);
  bool hasOneOrder(int32_t factor, const AxisList &here) const;
  void tryOrders(int32_t factor, FactorAssignment &assignment);
  void consider(const FactorAssignment &assignment);
  /// Puts the cheapest of what was found among `cheapest`, which becomes no
  /// longer than `most`.
  void settle(size_t most);

  OpChooser &chooser;
  const ChoiceProblem &problem;
  const Mesh &mesh;
  SmallVector<AssignmentTensor, 4> rows;
  TensorDemands demands;
  SmallVector<AxisRef, 6> axes;
  /// Those of `axes` that no tensor is cut by.
  SmallVector<AxisRef, 2> idle;
  FactorAssignment best;
  /// What may only be extended; empty if anything goes.
  FactorAssignment kept;
  double mostPoints = 0;
  /// By how much the axes from each on can divide the work.
  SmallVector<double, 8> shardsLeft;
  /// What costs more is of no interest.
  double mostPrice = HUGE_VAL;
  const FactorAssignment *excluded = nullptr;
  /// The lawful ones in the order of the enumeration, each with a bound on its
  /// price.
  std::deque<std::pair<double, FactorAssignment>> found;
  /// How many of them `settle` has seen.
  size_t numSettled = 0;
  /// Prices and numbers in `found`, the cheapest first, the first of equals
  /// first.
  std::vector<std::pair<double, int64_t>> cheapest;
};

} // namespace

FactorAssignment Enumeration::run() {
  best = assignFactors({problem.rule, rows, problem.contraction});
  std::optional<double> voted = chooser.price(problem, best, HUGE_VAL, demands);
  if (!voted || *voted == 0)
    return best;
  bool isAll = collectAxes();
  if (axes.empty())
    return best;
  if (*voted <= leastOwnPrice())
    return best;
  limitWork();
  mostPrice = *voted;
  cheapest = {{*voted, -1}};
  climb();
  if (isAll) {
    // What was climbed to only bounds the price: the first of equals is chosen.
    mostPrice = cheapest.front().first;
    found.clear();
    numSettled = 0;
    cheapest = {{*voted, -1}};
    enumerateAll();
    settle(1);
  }
  auto [price, number] = cheapest.front();
  return number < 0 ? best : found[number].second;
}

std::optional<OpChooser::OtherCut>
Enumeration::runWithout(const FactorAssignment &taken) {
  best = taken;
  bool isAll = collectAxes();
  excluded = &taken;
  mostPoints = HUGE_VAL;
  if (isAll)
    enumerateAll();
  else
    for (const FactorAssignment &other : nearbyCuts(problem.rule, rows, taken))
      consider(other);
  settle(1);
  if (cheapest.empty())
    return std::nullopt;
  auto [price, number] = cheapest.front();
  return OpChooser::OtherCut{found[number].second, price, isAll};
}

std::vector<FactorAssignment>
Enumeration::runAll(const FactorAssignment &taken) {
  std::vector<FactorAssignment> result = {taken};
  best = assignFactors({problem.rule, rows, problem.contraction});
  if (!collectAxes())
    return result;
  excluded = &taken;
  limitWork();
  enumerateAll();
  settle(kMostCandidates - 1);
  for (auto [price, number] : cheapest)
    result.push_back(found[number].second);
  return result;
}

void Enumeration::enumerateAll() {
  FactorAssignment assignment(problem.rule.factors.size());
  shardsLeft.assign(axes.size() + 1, 1);
  for (size_t i = axes.size(); i-- > 0;)
    shardsLeft[i] = shardsLeft[i + 1] * static_cast<double>(axes[i].size);
  distribute(0, localPoints(problem.rule, assignment), assignment);
}

void Enumeration::climb() {
  FactorAssignment taken = best;
  for (int step = 0; step < kMostSteps; ++step) {
    int64_t before = cheapest.front().second;
    for (const FactorAssignment &other : nearbyCuts(problem.rule, rows, taken))
      consider(other);
    settle(1);
    auto [price, number] = cheapest.front();
    if (number == before)
      return;
    mostPrice = price;
    taken = found[number].second;
  }
}

double Enumeration::leastOwnPrice() const {
  double shards = 1, bytes = 0;
  for (AxisRef axis : axes)
    shards *= static_cast<double>(axis.size);
  for (const AssignmentTensor &tensor : rows)
    bytes += static_cast<double>(tensor.bytes);
  FactorAssignment whole(problem.rule.factors.size());
  return chooser.prices().computePrice(localFlops(problem, whole) / shards,
                                       bytes / shards);
}

/// Of `best`, the voted one.
void Enumeration::limitWork() {
  mostPoints = kRepeatedWork * localPoints(problem.rule, best);
  if (problem.contraction) {
    if (operandsAgree())
      kept = best;
    return;
  }
  bool needsWhole = hasFactor(problem.rule, FactorKind::NeedReplication);
  if (problem.rule.exchanges() ||
      (needsWhole && mayRepeat(problem, chooser.prices())))
    mostPoints = HUGE_VAL;
  else if (!needsWhole)
    mostPoints = std::max(mostPoints, pointsHeld());
}

/// The points of the largest result on a device, as it is wanted.
double Enumeration::pointsHeld() const {
  double most = 0;
  for (const ChoiceTensor &result :
       ArrayRef(problem.tensors).drop_front(problem.rule.operands.size())) {
    double points = 1;
    for (auto [size, dim] : zip_equal(result.shape, result.sharding.dims))
      points *= static_cast<double>(size) / dim.axes.numShards();
    most = std::max(most, points);
  }
  return most;
}

bool Enumeration::operandsAgree() const {
  for (size_t i = 0; i < problem.rule.operands.size(); ++i) {
    const ChoiceTensor &tensor = problem.tensors[i];
    TensorSharding needed = shardingUnder(best, problem.rule, i);
    if (!tensor.free && !all_of_zip(needed.dims, tensor.sharding.dims,
                                    [](const auto &a, const auto &b) {
                                      return a.axes == b.axes;
                                    }))
      return false;
  }
  return true;
}

bool Enumeration::collectAxes() {
  SmallVector<AxisRef, 6> all;
  for (const AssignmentTensor &tensor : rows)
    for (const FactorSharding &cell : tensor.row.factors)
      if (!tensor.free)
        append_range(all, cell.axes);
  for (const AxisList &list : best)
    append_range(all, list);
  if (!splitAtBorders(all, axes)) {
    axes.clear();
    return false;
  }
  if (problem.contraction)
    for (AxisRef axis : mesh.allAxes())
      if (axis.size > 1 && !problem.manual.overlaps(axis) &&
          none_of(axes, [&](AxisRef other) { return other.axis == axis.axis; }))
        idle.push_back(axis);
  axes.append(idle);
  auto cuttable = count_if(problem.rule.factors, canBeCut);
  return std::pow(cuttable + 1, axes.size()) <= kChoiceBudget;
}

void Enumeration::distribute(size_t axis, double points,
                             FactorAssignment &assignment) {
  if (roundedDown(points / shardsLeft[axis]) > mostPoints)
    return;
  if (axis == axes.size())
    return tryOrders(0, assignment);
  distribute(axis + 1, points, assignment);
  for (auto [f, factor] : enumerate(problem.rule.factors)) {
    if (!canBeCut(factor) ||
        factor.size % (assignment[f].numShards() * axes[axis].size) != 0)
      continue;
    AxisList before = assignment[f];
    assignment[f].append(axes[axis]);
    distribute(axis + 1, points / static_cast<double>(axes[axis].size),
               assignment);
    assignment[f] = before;
  }
}

/// No axis, or one of which no tensor has only a part.
bool Enumeration::hasOneOrder(int32_t factor, const AxisList &here) const {
  return here.empty() ||
         (here.size() == 1 &&
          none_of(rows, [&](const AssignmentTensor &tensor) {
            return any_of(tensor.row.factors[factor].axes, [&](AxisRef axis) {
              return axis != here[0] && axis.overlaps(here[0]);
            });
          }));
}

void Enumeration::tryOrders(int32_t factor, FactorAssignment &assignment) {
  while (factor < static_cast<int32_t>(assignment.size()) &&
         hasOneOrder(factor, assignment[factor]))
    ++factor;
  if (factor == static_cast<int32_t>(assignment.size()))
    return consider(assignment);
  AxisList here = assignment[factor].sorted();
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
  for (const AssignmentTensor &tensor : rows) {
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
  AxisList before = assignment[factor];
  for (const AxisList &order : orders) {
    assignment[factor] = order;
    tryOrders(factor + 1, assignment);
  }
  assignment[factor] = before;
}

void Enumeration::consider(const FactorAssignment &assignment) {
  if (excluded && assignment == *excluded)
    return;
  for (auto [before, after] : zip(kept, assignment))
    if (!before.isPrefixOf(after))
      return;
  if (!isLawful(assignment, problem.rule) ||
      localPoints(problem.rule, assignment) > mostPoints)
    return;
  double least = chooser.leastPrice(problem, assignment, mostPrice, demands);
  if (least <= mostPrice)
    found.emplace_back(least, assignment);
}

void Enumeration::settle(size_t most) {
  std::vector<std::pair<double, int64_t>> order;
  for (; numSettled < found.size(); ++numSettled)
    order.emplace_back(found[numSettled].first, numSettled);
  llvm::sort(order);
  for (auto [least, number] : order) {
    double limit = cheapest.size() < most ? HUGE_VAL : cheapest.back().first;
    if (least > limit)
      return;
    // One of equal price may be earlier.
    std::optional<double> price =
        chooser.price(problem, found[number].second,
                      std::nextafter(limit, HUGE_VAL), demands);
    if (!price)
      continue;
    std::pair<double, int64_t> entry(*price, number);
    cheapest.insert(llvm::upper_bound(cheapest, entry), entry);
    if (cheapest.size() > most)
      cheapest.pop_back();
  }
}

std::optional<OpChooser::OtherCut>
OpChooser::alternative(const ChoiceProblem &problem,
                       const FactorAssignment &taken) {
  SmallVector<Alternative, 1> &known = alternatives[problem];
  for (const Alternative &entry : known)
    if (entry.taken == taken)
      return entry.next;
  known.push_back({taken, Enumeration(*this, problem, mesh).runWithout(taken)});
  return known.back().next;
}

FactorAssignment OpChooser::choose(const ChoiceProblem &problem) {
  return Enumeration(*this, problem, mesh).run();
}

const std::vector<FactorAssignment> &
OpChooser::candidates(const ChoiceProblem &problem) {
  auto found = knownCandidates.find(problem);
  if (found == knownCandidates.end()) {
    Enumeration space(*this, problem, mesh);
    found =
        knownCandidates.emplace(problem, space.runAll(choose(problem))).first;
  }
  return found->second;
}

size_t OpChooser::Hash::operator()(const ChoiceProblem &problem) const {
  hash_code hash =
      hash_combine(problem.rule.factors.size(), problem.tensors.size(),
                   problem.contraction, problem.transformFlops);
  for (const Factor &factor : problem.rule.factors)
    hash = hash_combine(hash, factor.size, static_cast<int>(factor.kind));
  for (const ChoiceTensor &tensor : problem.tensors) {
    hash = hash_combine(hash, tensor.elementBytes, tensor.free,
                        tensor.sharding.unreduced,
                        hash_combine_range(tensor.shape));
    for (const DimSharding &dim : tensor.sharding.dims)
      hash = hash_combine(hash, dim.axes);
  }
  return hash;
}

} // namespace shardonnay
