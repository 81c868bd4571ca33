//===- OpStrategies.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/OpStrategies.h"
#include "shardonnay/algebra/Counts.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace shardonnay {

hash_code hash_value(const TensorKind &kind) {
  return hash_combine(kind.elementBytes, kind.runs,
                      hash_combine_range(kind.shape));
}

hash_code hash_value(const OpKind &kind) {
  hash_code hash = hash_combine(
      kind.rule, kind.contraction, kind.transformFlops, kind.manual,
      kind.elementwise, hash_combine_range(kind.tensors));
  return kind.required ? hash_combine(hash, hash_combine_range(*kind.required))
                       : hash;
}

OpProblem OpStrategies::problemOf(int32_t kind, ArrayRef<int32_t> shardings,
                                  const SmallBitVector &free) const {
  const OpKind &op = kinds[kind];
  OpProblem problem;
  static_cast<OpFeatures &>(problem) = op;
  problem.rule = *op.rule;
  for (auto [i, number] : enumerate(op.tensors)) {
    OpTensor &tensor = problem.tensors.emplace_back();
    tensor.free = free.test(i);
    if (number < 0)
      continue;
    tensor.sharding = this->shardings[shardings[i]];
    append_range(tensor.shape, tensors[number].shape);
    tensor.elementBytes = tensors[number].elementBytes;
    tensor.runs = tensors[number].runs;
  }
  return problem;
}

void OpStrategies::fill(OpStrategy &strategy, int32_t kind,
                        ArrayRef<int32_t> shardings, const SmallBitVector &free,
                        const OpProblem &problem,
                        const FactorStrategy &factors) {
  size_t numTensors = problem.tensors.size();
  strategy.factors = &factorStrategies[factorStrategies.intern(factors)];
  strategy.kind = kind;
  strategy.shardings.assign(shardings.begin(), shardings.end());
  strategy.free = free;
  strategy.needed.assign(numTensors, -1);
  strategy.differs.resize(numTensors);
  for (size_t i = 0; i < numTensors; ++i) {
    if (kinds[kind].tensors[i] < 0)
      continue;
    strategy.needed[i] = add(shardingUnder(factors, problem.rule, i));
    if (strategy.needed[i] != shardings[i])
      strategy.differs.set(i);
  }
  for (const AxisList &axes : factors)
    strategy.shards *= axes.numShards();
}

const OpStrategy &OpStrategies::solve(int32_t kind, ArrayRef<int32_t> shardings,
                                      const SmallBitVector &free) {
  Key key = {kind};
  append_range(key, shardings);
  for (unsigned i : free.set_bits())
    key.push_back(i);
  if (solver.prices().isComputeWeighed())
    key.push_back(-1);
  auto [known, isNew] = selected.try_emplace(std::move(key));
  if (isNew) {
    OpProblem problem = problemOf(kind, shardings, free);
    OpSolver::Solution found = solver.solveWithPrice(problem);
    OpStrategy &strategy = known->second;
    fill(strategy, kind, shardings, free, problem, found.strategy);
    strategy.price = found.price;
    strategy.repeatsWork = strategy.differs.any() && found.repeatsWork;
  }
  return known->second;
}

const OpStrategy &OpStrategies::make(int32_t kind, ArrayRef<int32_t> shardings,
                                     const SmallBitVector &free,
                                     const FactorStrategy &factors) {
  OpStrategy &strategy = made.emplace_back();
  OpProblem problem = problemOf(kind, shardings, free);
  fill(strategy, kind, shardings, free, problem, factors);
  strategy.repeatsWork =
      strategy.differs.any() && repeatsWork(problem, factors);
  return strategy;
}

std::optional<double> OpStrategies::price(const OpStrategy &strategy) {
  if (!strategy.price)
    strategy.price = solver.price(problemOf(strategy), *strategy.factors);
  return *strategy.price;
}

const OpWork &OpStrategies::workOf(const OpStrategy &strategy) {
  if (!strategy.work)
    strategy.work = solver.workOf(problemOf(strategy), *strategy.factors);
  return *strategy.work;
}

double OpStrategies::ownPrice(const OpStrategy &strategy) {
  if (!strategy.ownPrice)
    strategy.ownPrice = solver.ownPrice(problemOf(strategy), *strategy.factors);
  return *strategy.ownPrice;
}

std::optional<ReshardCost> OpStrategies::reshardCost(int32_t tensor,
                                                     int32_t from, int32_t to) {
  auto [entry, isNew] = reshards.try_emplace({tensor, from, to});
  if (isNew) {
    const TensorKind &kind = tensors[tensor];
    entry->second = costOfReshard(solver, kind.shape, kind.elementBytes,
                                  shardings[from], shardings[to]);
    double runs = kind.runs.from(!shardings[from].unreduced.empty());
    if (entry->second && runs != 1) {
      entry->second->price *= runs;
      entry->second->bytes = static_cast<int64_t>(entry->second->bytes * runs);
    }
  }
  return entry->second;
}

int64_t localBytes(const TensorKind &tensor, const TensorSharding &sharding) {
  int64_t bytes = tensor.elementBytes;
  for (auto [size, dim] : zip_equal(tensor.shape, sharding.dims))
    bytes = countProduct(bytes, divideCeil(size, dim.axes.numShards()));
  return bytes;
}

std::optional<ReshardCost>
costOfReshard(OpSolver &solver, ArrayRef<int64_t> shape, int64_t elementBytes,
              const TensorSharding &from, const TensorSharding &to) {
  if (AxisList made = to.unreduced.subtract(from.unreduced); !made.empty()) {
    TensorSharding before = to;
    before.unreduced = to.unreduced.subtract(made);
    if (before.unreduced.empty())
      before.kind = ReductionKind::Sum;
    return costOfReshard(solver, shape, elementBytes, from, before);
  }
  const ReshardPlan *plan = solver.planOfReshard(
      Layout::get(from, shape), Layout::get(to, shape), elementBytes);
  if (!plan)
    return std::nullopt;
  return ReshardCost{plan->price, plan->cost.bytes};
}

} // namespace shardonnay
