//===- RuleAccess.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/RuleAccess.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/interfaces/ShardingRule.h"

using namespace mlir;
using namespace mlir::sdy;

static OpShardingRuleAttr getWrittenRule(Operation *op) {
  return op->getAttrOfType<OpShardingRuleAttr>(kShardingRuleAttr);
}

std::optional<shardonnay::FactorRule>
mlir::sdy::getPropagationRule(Operation *op) {
  OpShardingRuleAttr written = getWrittenRule(op);
  if (written && written.getIsCustom())
    return toRule(written);
  return getComputationRule(op);
}

std::optional<shardonnay::FactorRule>
mlir::sdy::getComputationRule(Operation *op) {
  if (auto ruleOp = dyn_cast<shardonnay::ShardingRuleOpInterface>(op))
    if (std::optional<shardonnay::FactorRule> rule = ruleOp.getFactorRule())
      return rule;
  if (OpShardingRuleAttr written = getWrittenRule(op))
    return toRule(written);
  return std::nullopt;
}
