//===- ReshardPlan.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// planReshard, in order:
//
//  1. check:     the problem is sound;
//  2. search:    not needed for one step that nothing can be cheaper than;
//                plans around one permute (PermuteSearch.h), whose price bounds
//                the search over layouts (ReshardSearch.h); this within the
//                larger of the two layouts' local sizes, then without a limit,
//                over the refinement of the two layouts, then the fine one;
//  3. fall back: all_reduce, all_gather, slice, where neither found a plan;
//  4. tidy:      neighbouring slices of a dim become one;
//  5. finish:    the layouts between, and the cost;
//  6. improve:   where the sizes do not divide, a search for what is cheaper
//                by the sizes that devices really hold.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/ReshardPlan.h"

#include "shardonnay/algebra/Counts.h"
#include "shardonnay/plan/PermuteSearch.h"
#include "shardonnay/plan/ReshardBound.h"
#include "shardonnay/plan/ReshardSearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

namespace shardonnay {

static std::string str(int64_t value) { return std::to_string(value); }

/// The dims of a layout divide by their axes.
static bool checkDivides(const Layout &layout, llvm::StringRef name,
                         std::string &error) {
  for (auto [d, size, axes] : llvm::enumerate(layout.padded, layout.dims)) {
    if (size % axes.numShards() == 0)
      continue;
    error = "dim " + str(d) + " of the " + name.str() + " has padded size " +
            str(size) + ", expected a multiple of its " +
            str(axes.numShards()) + " shards";
    return false;
  }
  return true;
}

static bool check(const ReshardProblem &problem, std::string &error) {
  const Layout &source = problem.source, &target = problem.target;
  if (source.rank() != target.rank()) {
    error = "the source has rank " + str(source.rank()) +
            ", but the target has rank " + str(target.rank());
    return false;
  }
  for (auto [d, from, to] : llvm::enumerate(source.padded, target.padded)) {
    if (from == to)
      continue;
    error = "dim " + str(d) + " is padded to " + str(from) +
            " in the source, but to " + str(to) +
            " in the target, expected the same size";
    return false;
  }
  if (!checkDivides(source, "source", error) ||
      !checkDivides(target, "target", error))
    return false;
  for (AxisRef axis : target.partial) {
    if (source.partial.covers(axis))
      continue;
    error = "cannot make a tensor partial along an axis that it is not partial "
            "along in the source";
    return false;
  }
  if (!target.partial.empty() && source.kind != target.kind) {
    error = "cannot turn a partial " + toString(source.kind).str() +
            " into a partial " + toString(target.kind).str();
    return false;
  }
  return true;
}

static bool anyAxis(const Layout &layout,
                    llvm::function_ref<bool(AxisRef)> predicate) {
  return llvm::any_of(layout.partial, predicate) ||
         llvm::any_of(layout.dims, [&](const AxisList &axes) {
           return llvm::any_of(axes, predicate);
         });
}

/// Some axes of the two cannot be split into common parts.
static bool haveBoundariesApart(const Layout &a, const Layout &b) {
  return anyAxis(a, [&](AxisRef axis) {
    return anyAxis(b, [&](AxisRef other) { return !axis.canCoexist(other); });
  });
}

/// Permutes to any layout are edges of a search of so many atoms at most: they
/// matter where links differ, or where shard counts have several primes, and
/// are as many as the orders of the atoms.
static constexpr size_t kMaxPermutedAtoms = 4;
/// The part of the budget that a search of more atoms has: what a permute can
/// do is known by then. Of 1,600 plans of 5 to 8 atoms that were cheaper, all
/// of up to 6 atoms came by 506 states at most, 95 % of the others by 522.
static constexpr int64_t kManyAtomsShare = 32;

/// Where permutes of few atoms may lead to.
static ReshardSearch::Permutes permutesOf(const ReshardProblem &problem,
                                          ReshardEffort effort) {
  return effort.permutesAnywhere || !problem.costs.hasEqualLinks()
             ? ReshardSearch::Permutes::Any
             : ReshardSearch::Permutes::ToTarget;
}

/// `optimal` says whether no search gave up.
static std::optional<Steps> search(const ReshardProblem &problem,
                                   const Refinement &atoms,
                                   ReshardEffort effort, bool &optimal) {
  optimal = false;
  if (atoms.size() >= 64)
    return std::nullopt;
  ReshardSearch search(problem, atoms);
  optimal = true;
  if (std::optional<Steps> steps = search.findDirect())
    return steps;
  std::optional<Steps> found;
  double least = leastPrice(problem);
  if (!haveBoundariesApart(problem.source, problem.target)) {
    PermuteSearch permuting(problem);
    found = permuting.run(std::numeric_limits<double>::infinity());
    if (found && permuting.getPrice() <= least * (1 + kPriceRounding))
      return found;
    if (found)
      search.setMostCost(permuting.getPrice());
  }
  bool isSmall = atoms.size() <= kMaxPermutedAtoms;
  int64_t budget = isSmall ? effort.states : effort.states / kManyAtomsShare;
  auto permutes =
      isSmall ? permutesOf(problem, effort) : ReshardSearch::Permutes::ToTarget;
  int64_t limit =
      std::max(problem.source.localElements(), problem.target.localElements());
  for (int64_t maxElements : {limit, std::numeric_limits<int64_t>::max()}) {
    bool gaveUp = false;
    std::optional<Steps> steps =
        search.run(maxElements, budget, permutes, gaveUp);
    optimal &= !gaveUp;
    if (steps)
      found = std::move(steps);
    if (found || gaveUp)
      return found;
  }
  return found;
}

/// Reduces, gathers and slices all that differs.
static Steps fallBack(const ReshardProblem &problem) {
  const Layout &source = problem.source, &target = problem.target;
  Steps steps;
  AxisList reduced = source.partial.subtract(target.partial);
  if (!reduced.empty())
    steps.push_back(
        {StepKind::AllReduce, -1, -1, reduced, source.kind, Layout()});
  Steps slices;
  for (int64_t d = 0; d < source.rank(); ++d) {
    AxisList kept = source.dims[d].commonPrefix(target.dims[d]);
    if (kept != source.dims[d])
      steps.push_back({StepKind::AllGather, d, -1,
                       source.dims[d].dropPrefix(kept), ReductionKind::Sum,
                       Layout()});
    if (kept != target.dims[d])
      slices.push_back({StepKind::Slice, d, -1, target.dims[d].dropPrefix(kept),
                        ReductionKind::Sum, Layout()});
  }
  steps.append(slices);
  return steps;
}

/// Slices with nothing but slices between them become one a dim.
static void mergeSlices(Steps &steps) {
  Steps merged;
  size_t runStart = 0;
  for (Step &step : steps) {
    Step *same = llvm::find_if(
        llvm::MutableArrayRef<Step>(merged).drop_front(runStart),
        [&](const Step &earlier) { return earlier.dim == step.dim; });
    if (step.kind != StepKind::Slice) {
      merged.push_back(std::move(step));
      runStart = merged.size();
    } else if (same == merged.end()) {
      merged.push_back(std::move(step));
    } else {
      same->axes.append(step.axes);
    }
  }
  steps = std::move(merged);
}

/// The layout after `step` from `layout`.
static Layout apply(const Step &step, Layout layout) {
  auto dropSuffix = [&](AxisList &axes) {
    AxisList rest;
    axes.suffixOfSize(step.axes.numShards(), &rest);
    axes = rest;
  };
  switch (step.kind) {
  case StepKind::Slice:
    layout.dims[step.dim].append(step.axes);
    break;
  case StepKind::Permute:
    layout.dims = step.after.dims;
    break;
  case StepKind::AllGather:
    dropSuffix(layout.dims[step.dim]);
    break;
  case StepKind::AllToAll:
    dropSuffix(layout.dims[step.dim]);
    layout.dims[step.targetDim].append(step.axes);
    break;
  case StepKind::ReduceScatter:
    layout.partial = layout.partial.subtract(step.axes);
    layout.dims[step.dim].append(step.axes);
    break;
  case StepKind::AllReduce:
    layout.partial = layout.partial.subtract(step.axes);
    break;
  }
  return layout;
}

void simulateStep(const Step &step, LocalShard &shard) {
  // What is added makes no difference to a price.
  constexpr ReductionKind kind = ReductionKind::Sum;
  switch (step.kind) {
  case StepKind::Slice:
    return shard.allSlice(step.dim, step.axes);
  case StepKind::Permute:
    return shard.permute(step.after.dims);
  case StepKind::AllGather:
    return shard.allGather(step.dim, step.axes);
  case StepKind::AllToAll:
    return shard.allToAll(step.dim, step.targetDim, step.axes);
  case StepKind::ReduceScatter:
    return shard.reduceScatter(step.dim, step.axes, kind);
  case StepKind::AllReduce:
    return shard.allReduce(step.axes, kind);
  }
}

/// Cost and price on the sizes that devices really hold.
static void priceReally(const ReshardProblem &problem, ReshardPlan &plan,
                        WindowPrices &windows) {
  PricedShard shard(problem.mesh, problem.source.dims, problem.shape,
                    problem.elementBytes, &windows);
  for (const Step &step : plan.steps)
    simulateStep(step, shard);
  plan.cost = Cost();
  plan.price = 0;
  for (const LocalCollective &collective : shard.collectives()) {
    plan.cost += collective.cost;
    plan.price += collective.price(problem.costs);
  }
}

void finishPlan(const ReshardProblem &problem, ReshardPlan &plan) {
  Layout layout = problem.source;
  for (Step &step : plan.steps) {
    Cost cost = collectiveCost(step.kind, step.axes.numShards(),
                               layout.localElements() * problem.elementBytes);
    auto axes = llvm::map_to_vector<4>(
        step.axes, [](AxisRef axis) -> int64_t { return axis.axis; });
    plan.cost += cost;
    plan.price += problem.costs.price(cost, axes);
    layout = apply(step, std::move(layout));
    step.after = layout;
  }
}

void alignPadding(Layout &source, Layout &target) {
  for (auto [from, to, before, after] :
       llvm::zip_equal(source.padded, target.padded, source.dims, target.dims))
    if (from != to)
      from = to = llvm::alignTo(
          std::max(from, to), std::lcm(before.numShards(), after.numShards()));
}

ReshardProblem realProblem(const Mesh &mesh, Layout source, Layout target,
                           llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                           MeshCosts costs) {
  alignPadding(source, target);
  ReshardProblem problem{mesh, std::move(source), std::move(target),
                         elementBytes, std::move(costs)};
  if (llvm::ArrayRef(problem.source.padded) != shape)
    problem.shape.assign(shape.begin(), shape.end());
  return problem;
}

/// The plan that moves `atoms`.
static ReshardPlan planWith(const ReshardProblem &problem,
                            const Refinement &atoms, ReshardEffort effort) {
  ReshardPlan plan;
  std::optional<Steps> steps = search(problem, atoms, effort, plan.optimal);
  plan.steps = steps ? std::move(*steps) : fallBack(problem);
  mergeSlices(plan.steps);
  finishPlan(problem, plan);
  return plan;
}

/// Axes are split for a permute wherever that helps; what the fine atoms add is
/// little, and axes of 128 and 64 devices fall into 13.
static constexpr size_t kMaxFineAtoms = 6;

/// The plan on padded sizes.
static ReshardPlan planPadded(const ReshardProblem &problem,
                              ReshardEffort effort) {
  Refinement coarse(problem.source, problem.target);
  ReshardPlan plan = planWith(problem, coarse, effort);
  // One step, or none that sends anything, is not improved on.
  if (plan.steps.size() < 2 || plan.cost.bytes <= 0)
    return plan;
  Refinement fine(problem.source, problem.target, Refinement::Parts::Fine);
  if (fine.size() > coarse.size() && fine.size() <= kMaxFineAtoms) {
    ReshardPlan other = planWith(problem, fine, effort);
    other.optimal &= plan.optimal;
    plan.optimal = other.optimal;
    if (other.price < plan.price)
      plan = std::move(other);
  }
  return plan;
}

static int64_t realElements(const ReshardProblem &problem,
                            llvm::ArrayRef<AxisList> dims) {
  int64_t elements = 1;
  for (auto [size, axes] : llvm::zip_equal(problem.shape, dims))
    elements = countProduct(elements, llvm::divideCeil(size, axes.numShards()));
  return elements;
}

/// Puts the cheapest plan through layouts of at most `limit` elements a device
/// in the place of `plan`, if it is cheaper, or if `plan` does not keep to the
/// limit; false if there is none.
static bool improveWithin(const ReshardProblem &problem, ReshardPlan &plan,
                          bool fits, int64_t limit, ReshardEffort effort,
                          WindowPrices &windows) {
  int64_t budget = std::min(effort.states, kUnevenStateBudget);
  using Parts = Refinement::Parts;
  size_t numAtoms = 0;
  for (Parts parts : {Parts::Coarse, Parts::Fine, Parts::Primes}) {
    Refinement atoms(problem.source, problem.target, parts);
    if ((fits && plan.price == 0) || atoms.size() > kMaxFineAtoms)
      break;
    if (atoms.size() == numAtoms)
      continue;
    numAtoms = atoms.size();
    ReshardSearch search(problem, atoms, &windows);
    if (fits)
      search.setMostCost(plan.price);
    bool gaveUp = false;
    std::optional<Steps> steps = search.run(
        limit, atoms.size() > kMaxPermutedAtoms ? budget / 10 : budget,
        permutesOf(problem, effort), gaveUp);
    plan.optimal &= !gaveUp;
    if (!steps)
      continue;
    plan.steps = std::move(*steps);
    finishPlan(problem, plan);
    priceReally(problem, plan, windows);
    fits = true;
  }
  return fits;
}

/// `plan` is that on padded sizes. What fits there may be a little too large
/// as it is rounded up in reality; if there is nothing else, so may others.
static void improveUneven(const ReshardProblem &problem, ReshardPlan &plan,
                          ReshardEffort effort, WindowPrices &windows) {
  int64_t limit = std::max(realElements(problem, problem.source.dims),
                           realElements(problem, problem.target.dims)),
          most = limit;
  for (const Step &step : plan.steps)
    most = std::max(most, realElements(problem, step.after.dims));
  if (!improveWithin(problem, plan, most == limit, limit, effort, windows))
    improveWithin(problem, plan, /*fits=*/true, most, effort, windows);
}

std::optional<ReshardPlan> planReshard(const ReshardProblem &problem,
                                       std::string &error,
                                       ReshardEffort effort) {
  WindowPrices windows;
  return planReshard(problem, error, effort, windows);
}

std::optional<ReshardPlan> planReshard(const ReshardProblem &problem,
                                       std::string &error, ReshardEffort effort,
                                       WindowPrices &windows) {
  if (!check(problem, error))
    return std::nullopt;
  ReshardPlan plan;
  if (problem.source == problem.target)
    return plan;
  if (problem.shape.empty())
    return planPadded(problem, effort);
  ReshardProblem padded = problem;
  padded.shape.clear();
  plan = planPadded(padded, effort);
  priceReally(problem, plan, windows);
  improveUneven(problem, plan, effort, windows);
  return plan;
}

double leastPrice(const ReshardProblem &problem) {
  // Padding may be more than is sent.
  if (!problem.shape.empty())
    return 0;
  return leastPrice(problem.source, problem.target, problem.elementBytes,
                    problem.costs);
}

double leastPrice(const Layout &source, const Layout &target,
                  int64_t elementBytes, const MeshCosts &costs) {
  if (source.padded != target.padded || haveBoundariesApart(source, target))
    return 0;
  ReshardExtent extent;
  for (auto [size, from, to] :
       llvm::zip_equal(source.padded, source.dims, target.dims))
    extent.addDim(size, from.numShards(), to.numShards(),
                  from.isPrefixOf(to) || to.isPrefixOf(from));
  if (source.partial != target.partial) {
    AxisList used = source.usedAxes(),
             brought = target.usedAxes().subtract(used);
    extent.parts = source.partial.numShards() / target.partial.numShards();
    if (extent.parts < 2)
      return 0;
    extent.elementsPerDevice =
        static_cast<double>(extent.sourceElements) /
        (source.partial.numShards() * brought.numShards());
  }
  LeastCost least = leastCost(extent);
  return costs.leastPrice(least.elements * elementBytes, least.steps);
}

size_t ReshardPlanner::Hash::operator()(const ReshardProblem &problem) const {
  llvm::ArrayRef<int64_t> sizes = problem.mesh.axisSizes();
  return llvm::hash_combine(
      llvm::hash_combine_range(sizes.begin(), sizes.end()), problem.source,
      problem.target, problem.elementBytes);
}

const ReshardPlan *ReshardPlanner::plan(const ReshardProblem &problem,
                                        std::string &error) {
  auto known = plans.find(problem);
  if (known == plans.end()) {
    std::optional<ReshardPlan> plan =
        planReshard(problem, error, effort, windows);
    if (!plan)
      return nullptr;
    known = plans.emplace(problem, std::move(*plan)).first;
  }
  return &known->second;
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Step &step) {
  os << toString(step.kind);
  if (step.dim >= 0)
    os << " " << step.dim;
  if (step.targetDim >= 0)
    os << " -> " << step.targetDim;
  return os << " " << step.axes;
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const ReshardPlan &plan) {
  llvm::interleave(plan.steps, os, "; ");
  os << " (" << plan.cost.bytes << " bytes, " << plan.cost.steps << " steps)";
  if (!plan.optimal)
    os << " not optimal";
  return os;
}

} // namespace shardonnay
