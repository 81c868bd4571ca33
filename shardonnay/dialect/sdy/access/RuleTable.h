//===- RuleTable.h - the rules of many ops, each asked for once -*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op's rule is a function of its name, attributes, types, regions and
// constant operands (ShardingRuleOpInterface), so equal ops share it
// (OpSignatures.h). Asked each time are ops that say that they look at what
// makes their operands, and those with large regions.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ACCESS_RULETABLE_H
#define SHARDONNAY_DIALECT_SDY_ACCESS_RULETABLE_H

#include "mlir/IR/Operation.h"
#include "shardonnay/algebra/Factor.h"
#include "shardonnay/dialect/sdy/access/OpSignatures.h"
#include "shardonnay/support/Interner.h"
#include <optional>

namespace mlir::sdy {

class RuleTable {
public:
  using RuleOf = std::optional<shardonnay::FactorRule> (*)(Operation *);

  using Rules = shardonnay::Interner<shardonnay::FactorRule>;

  /// A table of the rules that `ruleOf` gives, such as getPropagationRule. They
  /// are kept in `rules`, if that is given, and outlive the table.
  explicit RuleTable(RuleOf ruleOf, Rules *rules = nullptr)
      : ruleOf(ruleOf), rules(rules ? *rules : ownRules) {}

  /// A number that ops with equal rules share; nothing if there is no rule.
  std::optional<int32_t> find(Operation *op);
  /// The rule of a number that `find` gave. Stays valid.
  const shardonnay::FactorRule &operator[](int32_t id) const {
    return rules[id];
  }
  /// The rule of the op, null if there is none. Stays valid.
  const shardonnay::FactorRule *get(Operation *op);

private:
  std::optional<int32_t> ask(Operation *op);

  RuleOf ruleOf;
  OpSignatures forms;
  Rules ownRules;
  Rules &rules;
  shardonnay::CompositeMap<std::optional<int32_t>> known;
};

/// The op's rule depends on the ops that make its operands.
bool looksAtOperands(Operation *op);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ACCESS_RULETABLE_H
