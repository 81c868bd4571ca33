//===- RequiredLayouts.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/RequiredLayouts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace shardonnay {

RequiredLayouts::RequiredLayouts(const OpProblem &problem,
                                 const MeshCosts &costs)
    : problem(problem), costs(costs), tensors(problem.tensors.size()) {
  for (auto [i, tensor] : enumerate(tensors)) {
    bool isResult = i >= problem.rule.operands.size();
    for (int32_t f = 0, e = problem.rule.factors.size(); f < e; ++f)
      if (problem.rule.tensor(i).has(f) ||
          (isResult && problem.rule.reducesOver(f)))
        tensor.factors.push_back(f);
    const OpTensor &given = problem.tensors[i];
    if (!given.free)
      tensor.outside = Layout::get(given.sharding, given.shape);
  }
  order = to_vector(seq<size_t>(0, tensors.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    int64_t ofA = problem.tensors[a].bytes(), ofB = problem.tensors[b].bytes();
    return ofA != ofB ? ofA > ofB : a < b;
  });
}

Layout layoutUnder(const OpProblem &problem, size_t number,
                   const FactorStrategy &strategy) {
  Layout layout;
  const FactorRule &rule = problem.rule;
  for (auto [size, factors] :
       zip_equal(problem.tensors[number].shape, rule.tensor(number).dims)) {
    AxisList &axes = layout.dims.emplace_back();
    for (int32_t factor : factors)
      axes.append(strategy[factor]);
    layout.padded.push_back(alignTo(size, axes.numShards()));
  }
  if (number < rule.operands.size())
    return layout;
  for (auto [f, axes] : enumerate(strategy))
    if (!axes.empty() && rule.reducesOver(f)) {
      layout.partial.append(axes);
      layout.kind = rule.factors[f].combiner;
    }
  layout.partial = layout.partial.sorted();
  return layout;
}

double touchedBytes(const OpProblem &problem, size_t tensor,
                    const Layout &inside) {
  return static_cast<double>(inside.localElements()) *
         problem.tensors[tensor].elementBytes;
}

void RequiredLayouts::fill(size_t number, const FactorStrategy &strategy,
                           RequiredLayout &required) const {
  const OpTensor &tensor = problem.tensors[number];
  bool isOperand = number < problem.rule.operands.size();
  required.inside = layoutUnder(problem, number, strategy);
  required.free = tensor.free;
  required.touched = touchedBytes(problem, number, required.inside);
  const Layout &outside = tensors[number].outside;
  if (tensor.free)
    return;
  if (required.inside == outside) {
    required.price = 0;
  } else if (required.inside.padded == outside.padded) {
    required.least = leastPrice(isOperand ? outside : required.inside,
                                isOperand ? required.inside : outside,
                                tensor.elementBytes, costs);
  } else {
    required.least = leastPrice(reshardOf(number, required, Mesh()));
  }
  const Layout &source = isOperand ? outside : required.inside;
  required.runs = tensor.runs.from(!source.partial.empty());
  required.least *= required.runs;
}

ReshardProblem RequiredLayouts::reshardOf(size_t number,
                                          const RequiredLayout &required,
                                          const Mesh &mesh) const {
  Layout source = tensors[number].outside, target = required.inside;
  if (number >= problem.rule.operands.size())
    std::swap(source, target);
  alignPadding(source, target);
  return {mesh, std::move(source), std::move(target),
          problem.tensors[number].elementBytes, costs};
}

RequiredLayouts::Numbers
RequiredLayouts::numbersOf(const FactorStrategy &strategy) {
  Numbers numbers;
  for (const AxisList &axes : strategy)
    numbers.push_back(axes.empty() ? -1 : lists.intern(axes));
  return numbers;
}

RequiredLayout &RequiredLayouts::get(size_t number,
                                     const FactorStrategy &strategy,
                                     const Numbers &numbers) {
  Tensor &tensor = tensors[number];
  Numbers seen;
  for (int32_t factor : tensor.factors)
    seen.push_back(numbers[factor]);
  auto [known, isNew] = tensor.known.try_emplace(std::move(seen));
  if (isNew)
    fill(number, strategy, known->second);
  return known->second;
}

} // namespace shardonnay
