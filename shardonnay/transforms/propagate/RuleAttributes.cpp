//===- RuleAttributes.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/RuleAttributes.h"

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/propagate/ConservativeRule.h"

using namespace mlir;

namespace shardonnay {

/// The attribute wants operands, and tensors only: an iota has none, a fill has
/// a number.
static bool mayHaveRuleAttribute(Operation *op) {
  return op->getNumOperands() != 0 &&
         llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

void writeRuleAttributes(Operation *module, bool conservative) {
  module->walk([&](ShardingRuleOpInterface op) {
    if (op->hasAttr(sdy::kShardingRuleAttr) || !mayHaveRuleAttribute(op))
      return;
    std::optional<FactorRule> rule = op.getFactorRule();
    if (!rule)
      return;
    if (conservative)
      makeConservative(op, *rule);
    op->setAttr(sdy::kShardingRuleAttr, sdy::fromRule(op->getContext(), *rule));
  });
}

} // namespace shardonnay
