//===- ConservativeRule.cpp - rules that move less ------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/ConservativeRule.h"
#include "mlir/IR/BuiltinTypes.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace shardonnay {

namespace {
/// The dims that have one factor.
struct FactorDims {
  FactorDims(Operation *op, const FactorRule &rule, int32_t factor) {
    for (auto [value, mapping] : llvm::zip(op->getOperands(), rule.operands)) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || !mapping.has(factor))
        continue;
      ++operands;
      sizes.insert(type.getDimSize(mapping.dimOf(factor)));
    }
    for (auto [value, mapping] : llvm::zip(op->getResults(), rule.results))
      if (auto type = dyn_cast<RankedTensorType>(value.getType());
          type && mapping.has(factor))
        sizes.insert(type.getDimSize(mapping.dimOf(factor)));
  }

  int64_t operands = 0;
  llvm::SmallSet<int64_t, 2> sizes;
};
} // namespace

void makeConservative(Operation *op, FactorRule &rule) {
  bool hasWindows = llvm::any_of(rule.factors, [](const Factor &factor) {
    return factor.kind == FactorKind::Windowed;
  });
  auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op);
  bool contraction = ruleOp && ruleOp.isContraction();
  for (auto [id, factor] : llvm::enumerate(rule.factors)) {
    FactorDims dims(op, rule, id);
    // Elements change their places in a dim that stays as it is.
    bool turned = dims.sizes.size() == 1 && op->getNumRegions() == 0 &&
                  !contraction && dims.operands == 1;
    bool joined = dims.operands > 1 && dims.sizes.size() > 1;
    if (factor.kind == FactorKind::Windowed)
      factor.blocked |= !turned;
    else if (factor.kind == FactorKind::NeedReplication)
      factor.blocked |= joined || (hasWindows && op->getNumRegions() > 0);
  }
}

std::optional<FactorRule> getConservativeRule(Operation *op) {
  std::optional<FactorRule> rule = sdy::getPropagationRule(op);
  if (rule)
    makeConservative(op, *rule);
  return rule;
}

} // namespace shardonnay
