//===- TensorDemands.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/TensorDemands.h"

using namespace llvm;

namespace shardonnay {

TensorDemands::TensorDemands(const ChoiceProblem &problem,
                             const MeshCosts &costs)
    : problem(problem), costs(costs), tensors(problem.tensors.size()) {
  for (auto [i, tensor] : enumerate(tensors)) {
    bool isResult = i >= problem.rule.operands.size();
    for (int32_t f = 0, e = problem.rule.factors.size(); f < e; ++f)
      if (problem.rule.tensor(i).has(f) ||
          (isResult && problem.rule.reducesOver(f)))
        tensor.factors.push_back(f);
    const ChoiceTensor &given = problem.tensors[i];
    if (!given.free)
      tensor.outside = Layout::get(given.sharding, given.shape);
  }
}

TensorDemand TensorDemands::make(size_t number,
                                 const FactorAssignment &assignment) const {
  const ChoiceTensor &tensor = problem.tensors[number];
  TensorDemand demand;
  demand.free = tensor.free;
  demand.source = Layout::get(shardingUnder(assignment, problem.rule, number),
                              tensor.shape);
  demand.touched =
      static_cast<double>(demand.source.localElements()) * tensor.elementBytes;
  if (tensor.free)
    return demand;
  demand.target = tensors[number].outside;
  if (number < problem.rule.operands.size())
    std::swap(demand.source, demand.target);
  alignPadding(demand.source, demand.target);
  demand.least =
      leastPrice(demand.source, demand.target, tensor.elementBytes, costs);
  return demand;
}

SmallVector<TensorDemand *, 4>
TensorDemands::get(const FactorAssignment &assignment) {
  SmallVector<int32_t, 8> numbers;
  for (const AxisList &axes : assignment)
    numbers.push_back(axes.empty() ? -1 : lists.intern(axes));
  SmallVector<TensorDemand *, 4> demands;
  for (auto [i, tensor] : enumerate(tensors)) {
    Key key;
    for (int32_t factor : tensor.factors)
      key.push_back(numbers[factor]);
    auto [known, isNew] = tensor.known.try_emplace(std::move(key));
    if (isNew)
      known->second = make(i, assignment);
    demands.push_back(&known->second);
  }
  return demands;
}

} // namespace shardonnay
