//===- RuleAccess.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::sdy;

static OpShardingRuleAttr getWrittenRule(Operation *op) {
  return op->getAttrOfType<OpShardingRuleAttr>(kShardingRuleAttr);
}

/// As passes write it that are silent on what an op needs whole.
static OpShardingRuleAttr withoutWholeDims(OpShardingRuleAttr rule) {
  return OpShardingRuleAttr::get(
      rule.getContext(), rule.getFactorSizes(), rule.getOperandMappings(),
      rule.getResultMappings(), rule.getReductionFactors(),
      /*needReplicationFactors=*/{}, rule.getPermutationFactors(),
      rule.getBlockedPropagationFactors(), rule.getIsCustom());
}

OpShardingRuleAttr mlir::sdy::getUserRule(Operation *op) {
  // What a constraint does is said by its sharding.
  if (isa<ShardingConstraintOp>(op))
    return nullptr;
  OpShardingRuleAttr written = getWrittenRule(op);
  auto ruleOp = dyn_cast<shardonnay::ShardingRuleOpInterface>(op);
  if (!written || written.getIsCustom() || !ruleOp)
    return written;
  std::optional<shardonnay::FactorRule> rule = ruleOp.getFactorRule();
  if (!rule)
    return written;
  OpShardingRuleAttr own = fromRule(op->getContext(), *rule);
  return written == own || written == withoutWholeDims(own) ? nullptr : written;
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

static bool shardsPickedDim(Operation *op,
                            const shardonnay::FactorRule &picking) {
  SmallVector<TensorShardingAttr> shardings = getShardings(op->getResults());
  return shardonnay::shardsPickedDim(picking, [&](size_t result, size_t dim) {
    TensorShardingAttr sharding = shardings[result];
    return sharding && !sharding.isReplicated() &&
           !sharding.getDimShardings()[dim].getAxes().empty();
  });
}

/// The factors of `rule` of which some dim is, in the rule that the user gave
/// to `op`, one that is needed whole.
static llvm::SmallBitVector
getWrittenWhole(Operation *op, const shardonnay::FactorRule &rule) {
  llvm::SmallBitVector whole(rule.factors.size());
  OpShardingRuleAttr attr = getUserRule(op);
  if (!attr || rule.custom)
    return whole;
  shardonnay::FactorRule written = toRule(attr);
  auto isWhole = [&](int32_t factor) {
    return written.factors[factor].kind ==
           shardonnay::FactorKind::NeedReplication;
  };
  size_t numTensors = rule.operands.size() + rule.results.size();
  for (size_t i = 0; i < numTensors; ++i)
    for (auto [own, theirs] :
         llvm::zip(rule.tensor(i).dims, written.tensor(i).dims))
      if (!theirs.empty() && llvm::all_of(theirs, isWhole))
        for (int32_t factor : own)
          whole.set(factor);
  return whole;
}

std::optional<shardonnay::FactorRule>
mlir::sdy::getPropagationRule(Operation *op) {
  if (OpShardingRuleAttr given = getUserRule(op))
    return toRule(given);
  std::optional<shardonnay::FactorRule> rule = getOwnRule(op);
  if (rule)
    for (shardonnay::Factor &factor : rule->factors)
      factor.retiled = factor.exchanged = false;
  return rule;
}

std::optional<shardonnay::FactorRule> mlir::sdy::getPickingRule(Operation *op) {
  auto local = dyn_cast<shardonnay::LocalComputeOpInterface>(op);
  return local ? local.getPickingRule() : std::nullopt;
}

std::optional<shardonnay::FactorRule>
mlir::sdy::getComputationRule(Operation *op) {
  if (std::optional<shardonnay::FactorRule> picking = getPickingRule(op);
      picking && !shardsPickedDim(op, *picking))
    return picking;
  return getWindowRule(op);
}

std::optional<shardonnay::FactorRule> mlir::sdy::getWindowRule(Operation *op) {
  using shardonnay::FactorKind;
  auto local = dyn_cast<shardonnay::LocalComputeOpInterface>(op);
  std::optional<shardonnay::FactorRule> rule = getOwnRule(op);
  if (!rule)
    return std::nullopt;
  llvm::SmallVector<FactorKind> kinds;
  llvm::SmallBitVector whole = getWrittenWhole(op, *rule);
  for (auto [id, factor] : llvm::enumerate(rule->factors)) {
    if (whole.test(id)) {
      kinds.push_back(FactorKind::NeedReplication);
      continue;
    }
    bool needsMore = factor.kind == FactorKind::Windowed ||
                     factor.kind == FactorKind::NeedReplication ||
                     isOneSided(*rule, id);
    if (!needsMore)
      kinds.push_back(factor.kind);
    else
      kinds.push_back(!isOneSided(*rule, id) && local &&
                              local.mayShard(*rule, id)
                          ? FactorKind::Windowed
                          : FactorKind::NeedReplication);
  }
  for (auto [factor, kind] : llvm::zip_equal(rule->factors, kinds))
    factor.kind = kind;
  return rule;
}
