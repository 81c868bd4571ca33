//===- RuleTable.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/RuleTable.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/support/VerifiedAnalysis.h"

using namespace mlir;
using namespace mlir::sdy;

bool mlir::sdy::looksAtOperands(Operation *op) {
  auto rule = dyn_cast<shardonnay::ShardingRuleOpInterface>(op);
  return rule && rule.looksAtOperands();
}

std::optional<int32_t> RuleTable::ask(Operation *op) {
  std::optional<shardonnay::FactorRule> rule = ruleOf(op);
  return rule ? std::optional(rules.intern(*rule)) : std::nullopt;
}

std::optional<int32_t> RuleTable::find(Operation *op) {
  shardonnay::CompositeKey key;
  if (looksAtOperands(op) || !forms.append(op, key))
    return ask(op);
  key.add(op->getNumOperands());
  for (Value operand : op->getOperands()) {
    key.add(operand.getType());
    forms.appendConstant(operand, key);
  }
  auto [entry, isNew] = known.find(key);
  if (isNew)
    entry = ask(op);
  else if (shardonnay::verifiesAnalyses() && entry != ask(op))
    shardonnay::failVerification("RuleTable", "equal ops have different rules");
  return entry;
}

const shardonnay::FactorRule *RuleTable::get(Operation *op) {
  std::optional<int32_t> id = find(op);
  return id ? &rules[*id] : nullptr;
}
