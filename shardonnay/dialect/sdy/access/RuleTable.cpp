//===- RuleTable.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/RuleTable.h"
#include "shardonnay/interfaces/ShardingRule.h"

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
  Words words;
  if (looksAtOperands(op) || !forms.append(op, words))
    return ask(op);
  words.push_back(op->getNumOperands());
  for (Value operand : op->getOperands()) {
    words.push_back(toWord(operand.getType().getAsOpaquePointer()));
    forms.appendConstant(operand, words);
  }
  auto [entry, isNew] = known.find(words);
  if (isNew)
    entry = ask(op);
  return entry;
}

const shardonnay::FactorRule *RuleTable::get(Operation *op) {
  std::optional<int32_t> id = find(op);
  return id ? &rules[*id] : nullptr;
}
