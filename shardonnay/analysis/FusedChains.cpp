//===- FusedChains.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/FusedChains.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/analysis/Summary.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/ConstantExpression.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/ShardingRule.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// Fusions do not read more than that; it also bounds the work here.
constexpr size_t kMostSources = 16;

/// Makes one tensor, each element of few of the operands'.
bool isElementByElement(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !isMemoryEffectFree(op))
    return false;
  if (isa<spmd::AllSliceOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (isa<ConstantExpressionOpInterface>(op))
    return true;
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  return rule &&
         (rule.isElementwise() ||
          rule.getPropagationClass() == PropagationClass::PassThrough ||
          rule.getPropagationClass() == PropagationClass::BroadcastBackward);
}

/// Reads its operands once, element by element, and makes less of them.
bool isReduction(Operation *op) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  if (!rule || op->getNumRegions() != 1 || rule.isContraction() ||
      isa<ShardableDataFlowOpInterface>(op))
    return false;
  std::optional<FactorRule> factors = rule.getFactorRule();
  return factors &&
         llvm::any_of(factors->factors,
                      [](const Factor &factor) {
                        return factor.kind == FactorKind::Reduction;
                      }) &&
         llvm::none_of(factors->factors, [](const Factor &factor) {
           return factor.kind == FactorKind::Windowed ||
                  factor.kind == FactorKind::Indexed;
         });
}

/// The same elements in the same or another order: a reshape, a transpose.
bool isRelayout(Operation *op) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  if (!rule || op->getNumOperands() != 1 || !isElementByElement(op) ||
      rule.isElementwise() ||
      rule.getPropagationClass() != PropagationClass::PassThrough)
    return false;
  return byteSize(op->getOperand(0).getType()) ==
         byteSize(op->getResult(0).getType());
}

} // namespace

FusedChains::FusedChains(Block &block) {
  for (Operation &op : block)
    add(op);
}

ArrayRef<Value> FusedChains::sources(Value value) const {
  auto chain = chains.find(value);
  return chain == chains.end() ? ArrayRef<Value>() : chain->second;
}

std::optional<SmallVector<Value, 4>>
FusedChains::sourcesOf(Operation &op) const {
  SmallVector<Value, 4> read;
  auto addOnce = [&](Value value) {
    if (!llvm::is_contained(read, value))
      read.push_back(value);
  };
  for (Value operand : op.getOperands()) {
    if (isInMemory(operand))
      addOnce(operand);
    else
      llvm::for_each(sources(operand), addOnce);
  }
  if (read.size() > kMostSources)
    return std::nullopt;
  return read;
}

void FusedChains::add(Operation &op) {
  if (!isElementByElement(&op))
    return;
  std::optional<SmallVector<Value, 4>> read = sourcesOf(op);
  if (!read)
    return;
  Value result = op.getResult(0);
  if (isRelayout(&op) && isInMemory(op.getOperand(0))) {
    chains[result] = *read;
    return;
  }
  int64_t readers = 0;
  for (Operation *user : result.getUsers()) {
    ++readers;
    if (user->getBlock() != op.getBlock() ||
        !(isElementByElement(user) || isReduction(user)))
      return;
  }
  if (readers == 1 || (readers > 1 && read->size() <= 1))
    chains[result] = std::move(*read);
}

bool FusedChains::worksInPlace(Operation *op) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  if (!rule || isa<ShardableDataFlowOpInterface>(op))
    return false;
  // Updates of slices, scatters and sorts.
  return rule.isElementwise() || op->getNumRegions() == 1 ||
         rule.getPropagationClass() == PropagationClass::PassThroughForward;
}

} // namespace shardonnay
