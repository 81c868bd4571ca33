//===- RuleAccess.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/RuleAccess.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/interfaces/ShardingRule.h"

using namespace mlir;
using namespace mlir::sdy;

static OpShardingRuleAttr getWrittenRule(Operation *op) {
  return op->getAttrOfType<OpShardingRuleAttr>(kShardingRuleAttr);
}

/// The op's own rule, else what is written.
static std::optional<shardonnay::FactorRule> getOwnRule(Operation *op) {
  if (auto ruleOp = dyn_cast<shardonnay::ShardingRuleOpInterface>(op))
    if (std::optional<shardonnay::FactorRule> rule = ruleOp.getFactorRule())
      return rule;
  if (OpShardingRuleAttr written = getWrittenRule(op))
    return toRule(written);
  return std::nullopt;
}

/// `factor` is a pass-through factor of operands only, such as a dim of size 1
/// that a reshape drops: only the device that has its element could compute.
/// In a written rule also one of results only: frontends write that for dims,
/// such as a matrix's, that a computation needs or makes whole.
static bool isOneSided(const shardonnay::FactorRule &rule, int32_t factor) {
  auto has = [&](const shardonnay::TensorMapping &tensor) {
    return tensor.has(factor);
  };
  if (rule.factors[factor].kind != shardonnay::FactorKind::PassThrough)
    return false;
  bool inOperands = llvm::any_of(rule.operands, has);
  bool inResults = llvm::any_of(rule.results, has);
  return inOperands ? !inResults : rule.custom && inResults;
}

std::optional<shardonnay::FactorRule>
mlir::sdy::getPropagationRule(Operation *op) {
  OpShardingRuleAttr written = getWrittenRule(op);
  if (written && written.getIsCustom())
    return toRule(written);
  return getOwnRule(op);
}

std::optional<shardonnay::FactorRule>
mlir::sdy::getComputationRule(Operation *op) {
  using shardonnay::FactorKind;
  std::optional<shardonnay::FactorRule> rule = getOwnRule(op);
  if (!rule)
    return std::nullopt;
  auto local = dyn_cast<shardonnay::LocalComputeOpInterface>(op);
  llvm::SmallVector<FactorKind> kinds;
  for (auto [id, factor] : llvm::enumerate(rule->factors)) {
    bool needsMore = factor.kind == FactorKind::Windowed ||
                     factor.kind == FactorKind::NeedReplication ||
                     isOneSided(*rule, id);
    if (!needsMore)
      kinds.push_back(factor.kind);
    else
      kinds.push_back(!isOneSided(*rule, id) && local && local.mayCut(*rule, id)
                          ? FactorKind::Windowed
                          : FactorKind::NeedReplication);
  }
  for (auto [factor, kind] : llvm::zip_equal(rule->factors, kinds))
    factor.kind = kind;
  return rule;
}
