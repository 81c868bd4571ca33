//===- OpSolver.cpp -------------------------------------------------------===//
//-------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/OpSolver.h"

#include "shardonnay/algebra/Counts.h"
#include "shardonnay/strategy/AssignmentSearch.h"
#include "shardonnay/strategy/Vote.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <cmath>

using namespace llvm;

namespace shardonnay {

int64_t OpTensor::bytes() const {
  int64_t bytes = elementBytes;
  for (int64_t size : shape)
    bytes = countProduct(bytes, size);
  return bytes;
}

SmallVector<AssignmentTensor, 4> rowsOf(const OpProblem &problem) {
  SmallVector<AssignmentTensor, 4> rows;
  for (auto [i, tensor] : enumerate(problem.tensors)) {
    AssignmentTensor &row = rows.emplace_back();
    row.row =
        project(tensor.sharding, problem.rule.tensor(i), problem.rule.factors);
    row.bytes = tensor.bytes();
    row.free = tensor.free;
  }
  return rows;
}

FactorAssignment voteAssignment(const OpProblem &problem) {
  return assignFactors({problem.rule, rowsOf(problem), problem.contraction});
}

double localPoints(const FactorRule &rule, const FactorAssignment &assignment) {
  double points = 1;
  for (auto [factor, axes] : zip_equal(rule.factors, assignment))
    points *= static_cast<double>(factor.size) / axes.numShards();
  return points;
}

bool repeatsWork(const OpProblem &problem, const FactorAssignment &assignment) {
  return localPoints(problem.rule, assignment) >
         kRepeatedWork * localPoints(problem.rule, voteAssignment(problem));
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

double localFlops(const OpProblem &problem,
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

double roundedDown(double price) {
  constexpr double kRounding = 1e-9;
  return price * (1 - kRounding);
}

double movedBytes(const OpProblem &problem, double touched) {
  if (!problem.elementwise)
    return touched;
  double chained = std::max(0.0, touched - kUnfusedBytes);
  return touched - kFusedShare * chained;
}

OpSolver::Required
OpSolver::requiredOf(const OpProblem &problem,
                     const FactorAssignment &assignment, double limit,
                     RequiredLayouts &requiredLayouts) const {
  Required required;
  double touched = 0, flops = localFlops(problem, assignment),
         least = costs.computePrice(flops, 0);
  if (roundedDown(least) > limit) {
    required.ownPrice = HUGE_VAL;
    return required;
  }
  RequiredLayouts::Numbers numbers = requiredLayouts.numbersOf(assignment);
  SmallVector<RequiredLayout *, 4> asked(problem.tensors.size());
  for (size_t i : requiredLayouts.largestFirst()) {
    asked[i] = &requiredLayouts.get(i, assignment, numbers);
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
                      fetchPrice(problem, assignment);
  return required;
}

double OpSolver::Required::leastFrom(size_t first) const {
  double least = ownPrice;
  for (auto [number, asked] : drop_begin(reshards, first))
    least += asked->least;
  return roundedDown(least);
}

double OpSolver::leastPrice(const OpProblem &problem,
                            const FactorAssignment &assignment, double limit,
                            RequiredLayouts &requiredLayouts) const {
  return requiredOf(problem, assignment, limit, requiredLayouts).leastFrom(0);
}

std::optional<double> OpSolver::price(const OpProblem &problem,
                                      const FactorAssignment &assignment,
                                      double limit) {
  RequiredLayouts requiredLayouts(problem, costs);
  return price(problem, assignment, limit, requiredLayouts);
}

std::optional<double> OpSolver::price(const OpProblem &problem,
                                      const FactorAssignment &assignment,
                                      double limit,
                                      RequiredLayouts &requiredLayouts) {
  Required required = requiredOf(problem, assignment, limit, requiredLayouts);
  double total = 0;
  for (auto [i, reshard] : enumerate(required.reshards)) {
    if (total + required.leastFrom(i) > limit)
      return std::nullopt;
    auto [number, asked] = reshard;
    if (!asked->price) {
      std::string error;
      const ReshardPlan *plan =
          planner.plan(requiredLayouts.reshardOf(number, *asked, mesh), error);
      asked->price = plan ? plan->price : HUGE_VAL;
    }
    if (*asked->price == HUGE_VAL)
      return std::nullopt;
    total += *asked->price;
  }
  total += required.ownPrice;
  return total < limit ? std::optional(total) : std::nullopt;
}

OpWork OpSolver::workOf(const OpProblem &problem,
                        const FactorAssignment &assignment) const {
  OpWork work;
  work.flops = localFlops(problem, assignment);
  work.fetchPrice = fetchPrice(problem, assignment);
  for (size_t i = 0; i < problem.tensors.size(); ++i)
    work.touched.push_back(
        touchedBytes(problem, i, layoutUnder(problem, i, assignment)));
  return work;
}

double OpSolver::ownPrice(const OpProblem &problem,
                          const FactorAssignment &assignment) const {
  OpWork work = workOf(problem, assignment);
  double touched = 0;
  for (double bytes : work.touched)
    touched += bytes;
  return costs.computePrice(work.flops, movedBytes(problem, touched)) +
         work.fetchPrice;
}

double OpSolver::fetchPrice(const OpProblem &problem,
                            const FactorAssignment &assignment) const {
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
  // What goes over all devices does so however the op is cut.
  double price = 0;
  for (const LocalCollective &fetch :
       fetchCollectives(mesh, problem.rule, assignment, shapes, elementBytes,
                        /*deviceAxes=*/AxisList(), pricer))
    price += fetch.price(costs);
  return price;
}

std::optional<OpSolver::OtherStrategy>
OpSolver::alternative(const OpProblem &problem, const FactorAssignment &taken) {
  SmallVector<Alternative, 1> &known = alternatives[problem];
  for (const Alternative &entry : known)
    if (entry.taken == taken)
      return entry.next;
  known.push_back(
      {taken, AssignmentSearch(*this, problem, mesh).runWithout(taken)});
  return known.back().next;
}

static bool hasFactor(const FactorRule &rule, FactorKind kind) {
  return any_of(rule.factors,
                [&](const Factor &factor) { return factor.kind == kind; });
}

bool needsWhole(const FactorRule &rule) {
  return hasFactor(rule, FactorKind::NeedReplication);
}

/// What it does is known, by its kind and not by a rule alone, and is little.
/// A table that is looked up in is cut to be held in parts, where memory is
/// scarce.
bool OpSolver::mayRepeat(const OpProblem &problem) const {
  bool looksUp = hasFactor(problem.rule, FactorKind::Indexed);
  return gathersByPrice && needsWhole(problem.rule) && costs.pricesCompute() &&
         !problem.rule.custom && problem.transformFlops == 0 &&
         !(looksUp && costs.limitsMemory());
}

FactorAssignment OpSolver::solve(const OpProblem &problem) {
  if (problem.required)
    return *problem.required;
  return AssignmentSearch(*this, problem, mesh).run();
}

const std::vector<FactorAssignment> &
OpSolver::candidates(const OpProblem &problem) {
  auto found = knownCandidates.find(problem);
  if (found != knownCandidates.end())
    return found->second;
  std::vector<FactorAssignment> all =
      problem.required
          ? std::vector{*problem.required}
          : AssignmentSearch(*this, problem, mesh).runAll(solve(problem));
  return knownCandidates.emplace(problem, std::move(all)).first->second;
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
