//===- RuleAttributes.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/RuleAttributes.h"

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/propagate/ConservativeRule.h"
#include "shardonnay/transforms/propagate/PropagationGraph.h"

using namespace mlir;

namespace shardonnay {

/// The attribute wants operands, and tensors only: an iota has none, a fill has
/// a number.
static bool mayHaveRuleAttribute(Operation *op) {
  return op->getNumOperands() != 0 &&
         llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// A constraint has no rule of its own to be read: it passes all dims.
static void writeConstraintRule(sdy::ShardingConstraintOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type || !type.hasStaticShape() || op->hasAttr(sdy::kShardingRuleAttr))
    return;
  op->setAttr(sdy::kShardingRuleAttr,
              sdy::fromRule(op->getContext(), identityRule(type.getShape())));
}

void writeRuleAttributes(Operation *module, bool conservative) {
  module->walk(writeConstraintRule);
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
