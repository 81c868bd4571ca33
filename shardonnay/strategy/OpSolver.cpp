//===- OpSolver.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/OpSolver.h"

#include "shardonnay/algebra/Counts.h"
#include "shardonnay/strategy/StrategySearch.h"
#include "shardonnay/strategy/Vote.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <cmath>

using namespace llvm;

namespace shardonnay {

hash_code hash_value(const ReshardRuns &runs) {
  return hash_combine(bit_cast<uint64_t>(runs.moved),
                      bit_cast<uint64_t>(runs.reduced));
}

int64_t OpTensor::bytes() const {
  int64_t bytes = elementBytes;
  for (int64_t size : shape)
    bytes = countProduct(bytes, size);
  return bytes;
}

SmallVector<VoteTensor, 4> rowsOf(const OpProblem &problem) {
  SmallVector<VoteTensor, 4> rows;
  for (auto [i, tensor] : enumerate(problem.tensors)) {
    VoteTensor &row = rows.emplace_back();
    row.row =
        project(tensor.sharding, problem.rule.tensor(i), problem.rule.factors);
    row.bytes = tensor.bytes();
    row.free = tensor.free;
  }
  return rows;
}

FactorStrategy voteStrategy(const OpProblem &problem) {
  return voteStrategy(
      VoteProblem{problem.rule, rowsOf(problem), problem.contraction});
}

double localPoints(const FactorRule &rule, ArrayRef<int64_t> shards) {
  double points = 1;
  for (auto [factor, count] : zip_equal(rule.factors, shards))
    points *= static_cast<double>(factor.size) / count;
  return points;
}

double localPoints(const FactorRule &rule, const FactorStrategy &strategy) {
  return localPoints(rule, shardsOf(strategy));
}

bool repeatsWork(const OpProblem &problem, const FactorStrategy &strategy) {
  return repeatsWork(problem.rule, strategy, voteStrategy(problem));
}

bool repeatsWork(const FactorRule &rule, const FactorStrategy &strategy,
                 const FactorStrategy &voted) {
  return localPoints(rule, strategy) > kRepeatedWork * localPoints(rule, voted);
}

/// What one device has of the largest tensor.
static double localElements(const FactorRule &rule, ArrayRef<int64_t> shards) {
  double most = 0;
  for (int64_t i = 0; i < rule.numTensors(); ++i) {
    double elements = 1;
    for (const DimFactors &factors : rule.tensor(i).dims)
      for (int32_t factor : factors)
        elements *=
            static_cast<double>(rule.factors[factor].size) / shards[factor];
    most = std::max(most, elements);
  }
  return most;
}

double localFlops(const OpProblem &problem, const FactorStrategy &strategy) {
  return localFlops(problem, shardsOf(strategy));
}

double localFlops(const OpProblem &problem, ArrayRef<int64_t> shards) {
  double points = localPoints(problem.rule, shards);
  if (problem.contraction)
    return 2 * points;
  if (problem.transformFlops > 0) {
    SmallVector<int64_t, 8> whole(shards.size(), 1);
    return problem.transformFlops * points / localPoints(problem.rule, whole);
  }
  double steps = 0;
  for (const Factor &factor : problem.rule.factors)
    if (factor.kind == FactorKind::NeedReplication && factor.size > 1)
      steps += std::log2(factor.size);
    else if (factor.exchanged)
      steps += 1;
  return steps == 0
             ? 0
             : kOrderingFlops * steps * localElements(problem.rule, shards);
}

/// Between the layouts, padded alike.
static ReshardProblem problemBetween(const Mesh &mesh, const MeshCosts &costs,
                                     Layout source, Layout target,
                                     int64_t elementBytes) {
  alignPadding(source, target);
  return {mesh, std::move(source), std::move(target), elementBytes, costs};
}

const ReshardPlan *OpSolver::planOfReshard(const Layout &source,
                                           const Layout &target,
                                           int64_t elementBytes) {
  std::string error;
  return planner.plan(problemBetween(mesh, costs, source, target, elementBytes),
                      error);
}

std::optional<double> OpSolver::priceOfReshard(const Layout &source,
                                               const Layout &target,
                                               int64_t elementBytes) {
  const ReshardPlan *plan = planOfReshard(source, target, elementBytes);
  return plan ? std::optional(plan->price) : std::nullopt;
}

double movedBytes(const OpProblem &problem, double touched) {
  if (!problem.elementwise)
    return touched;
  double chained = std::max(0.0, touched - kUnfusedBytes);
  return touched - kFusedShare * chained;
}

OpSolver::Required
OpSolver::requiredOf(const OpProblem &problem, const FactorStrategy &strategy,
                     double limit, RequiredLayouts &requiredLayouts) const {
  Required required;
  double touched = 0, flops = localFlops(problem, strategy),
         least = costs.computePrice(flops, 0);
  if (roundedDown(least) > limit) {
    required.ownPrice = HUGE_VAL;
    return required;
  }
  RequiredLayouts::Numbers numbers = requiredLayouts.numbersOf(strategy);
  SmallVector<RequiredLayout *, 4> asked(problem.tensors.size());
  for (size_t i : requiredLayouts.largestFirst()) {
    asked[i] = &requiredLayouts.get(i, strategy, numbers);
    least += asked[i]->least;
    if (roundedDown(least) > limit) {
      required.ownPrice = HUGE_VAL;
      return required;
    }
  }
  for (auto [i, tensor] : enumerate(asked)) {
    touched += tensor->touched;
    if (!tensor->free)
      required.reshards.emplace_back(i, tensor);
  }
  required.ownPrice = costs.computePrice(flops, movedBytes(problem, touched)) +
                      fetchPrice(problem, strategy);
  return required;
}

double OpSolver::Required::leastFrom(size_t first) const {
  double least = ownPrice;
  for (auto [number, asked] : drop_begin(reshards, first))
    least += asked->least;
  return roundedDown(least);
}

double OpSolver::leastPrice(const OpProblem &problem,
                            const FactorStrategy &strategy, double limit,
                            RequiredLayouts &requiredLayouts) const {
  return requiredOf(problem, strategy, limit, requiredLayouts).leastFrom(0);
}

std::optional<double> OpSolver::price(const OpProblem &problem,
                                      const FactorStrategy &strategy,
                                      double limit) {
  RequiredLayouts requiredLayouts(problem, costs);
  return price(problem, strategy, limit, requiredLayouts);
}

std::optional<double> OpSolver::price(const OpProblem &problem,
                                      const FactorStrategy &strategy,
                                      double limit,
                                      RequiredLayouts &requiredLayouts) {
  Required required = requiredOf(problem, strategy, limit, requiredLayouts);
  double total = 0;
  for (auto [i, reshard] : enumerate(required.reshards)) {
    if (total + required.leastFrom(i) > limit)
      return std::nullopt;
    auto [number, asked] = reshard;
    if (!asked->price) {
      std::string error;
      const ReshardPlan *plan =
          planner.plan(requiredLayouts.reshardOf(number, *asked, mesh), error);
      asked->price = plan ? plan->price * asked->runs : HUGE_VAL;
    }
    if (*asked->price == HUGE_VAL)
      return std::nullopt;
    total += *asked->price;
  }
  total += required.ownPrice;
  return total < limit ? std::optional(total) : std::nullopt;
}

OpWork OpSolver::workOf(const OpProblem &problem,
                        const FactorStrategy &strategy) const {
  OpWork work;
  work.flops = localFlops(problem, strategy);
  work.fetchPrice = fetchPrice(problem, strategy);
  for (size_t i = 0; i < problem.tensors.size(); ++i)
    work.touched.push_back(
        touchedBytes(problem, i, layoutUnder(problem, i, strategy)));
  return work;
}

double OpSolver::ownPrice(const OpProblem &problem,
                          const FactorStrategy &strategy) const {
  OpWork work = workOf(problem, strategy);
  double touched = 0;
  for (double bytes : work.touched)
    touched += bytes;
  return costs.computePrice(work.flops, movedBytes(problem, touched)) +
         work.fetchPrice;
}

double OpSolver::fetchPrice(const OpProblem &problem,
                            const FactorStrategy &strategy) const {
  if (!problem.rule.communicates())
    return 0;
  SmallVector<ArrayRef<int64_t>> shapes;
  SmallVector<int64_t> elementBytes;
  for (const OpTensor &tensor : problem.tensors) {
    shapes.push_back(tensor.shape);
    elementBytes.push_back(tensor.elementBytes);
  }
  auto pricer = [&](const FactorWindow &, const WindowProblem &window,
                    int64_t sliceBytes) {
    return knownWindows.find(window, sliceBytes);
  };
  // What goes over all devices does so however the op is sharded.
  double price = 0;
  for (const LocalCollective &fetch :
       fetchCollectives(mesh, problem.rule, strategy, shapes, elementBytes,
                        /*deviceAxes=*/AxisList(), pricer))
    price += fetch.price(costs);
  return price;
}

std::optional<OpSolver::OtherStrategy>
OpSolver::alternative(const OpProblem &problem, const FactorStrategy &taken) {
  SmallVector<Alternative, 1> &known = alternatives[problem];
  for (const Alternative &entry : known)
    if (entry.taken == taken)
      return entry.next;
  known.push_back(
      {taken, StrategySearch(*this, problem, mesh).runWithout(taken)});
  return known.back().next;
}

static bool hasFactor(const FactorRule &rule, FactorKind kind) {
  return any_of(rule.factors,
                [&](const Factor &factor) { return factor.kind == kind; });
}

bool needsWhole(const FactorRule &rule) {
  return hasFactor(rule, FactorKind::NeedReplication);
}

/// It moves elements and computes none: it slices, pads, concatenates or looks
/// up. How many of them a device moves is in the price of its results.
static bool movesElements(const OpProblem &problem) {
  const FactorRule &rule = problem.rule;
  if (problem.contraction || hasFactor(rule, FactorKind::Reduction))
    return false;
  if (hasFactor(rule, FactorKind::Indexed))
    return true;
  // A window of several elements makes one of them, as a pooling does.
  auto seesOne = [](const FactorWindow &window) { return window.extent == 1; };
  return !needsWhole(rule) && !rule.windows.empty() &&
         all_of(rule.windows, seesOne);
}

/// It looks up positions of a tensor that is there in shards.
static bool looksUpShards(const OpProblem &problem) {
  auto isIndexed = [&](const DimFactors &factors) {
    return any_of(factors, [&](int32_t factor) {
      return problem.rule.factors[factor].kind == FactorKind::Indexed;
    });
  };
  return any_of(
      zip(problem.rule.operands, problem.tensors), [&](const auto &entry) {
        const auto &[mapping, tensor] = entry;
        return any_of(mapping.dims, isIndexed) &&
               any_of(tensor.sharding.dims,
                      [](const DimSharding &dim) { return !dim.axes.empty(); });
      });
}

/// What it does is known, by its kind and not by a rule alone, and is little.
/// A table that is looked up in is sharded to be held in parts, where memory is
/// scarce.
bool OpSolver::mayRepeat(const OpProblem &problem) const {
  if (!gathersByPrice || problem.rule.custom || problem.transformFlops != 0 ||
      (costs.limitsMemory() && looksUpShards(problem)))
    return false;
  return movesElements(problem) ||
         (needsWhole(problem.rule) && costs.pricesCompute());
}

OpSolver::Solution OpSolver::solveWithPrice(const OpProblem &problem) {
  if (problem.required)
    return {*problem.required, price(problem, *problem.required),
            shardonnay::repeatsWork(problem, *problem.required)};
  return StrategySearch(*this, problem, mesh).run();
}

FactorStrategy OpSolver::solve(const OpProblem &problem) {
  return problem.required ? *problem.required
                          : solveWithPrice(problem).strategy;
}

const std::vector<FactorStrategy> &
OpSolver::strategies(const OpProblem &problem) {
  auto found = knownStrategies.find(problem);
  if (found != knownStrategies.end())
    return found->second;
  std::vector<FactorStrategy> all =
      problem.required
          ? std::vector{*problem.required}
          : StrategySearch(*this, problem, mesh).runAll(solve(problem));
  return knownStrategies.emplace(problem, std::move(all)).first->second;
}

size_t OpSolver::Hash::operator()(const OpProblem &problem) const {
  hash_code hash = hash_combine(problem.rule.factors.size(),
                                problem.tensors.size(), problem.contraction,
                                problem.transformFlops, problem.elementwise);
  for (const Factor &factor : problem.rule.factors)
    hash = hash_combine(hash, factor.size, static_cast<int>(factor.kind));
  for (const OpTensor &tensor : problem.tensors) {
    hash = hash_combine(hash, tensor.elementBytes, tensor.free,
                        tensor.sharding.unreduced,
                        hash_combine_range(tensor.shape));
    for (const DimSharding &dim : tensor.sharding.dims)
      hash = hash_combine(hash, dim.axes);
  }
  return hash;
}

} // namespace shardonnay
