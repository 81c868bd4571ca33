//===- RuleTable.h - the rules of many ops, each asked for once -*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs repeat themselves: a model of a thousand layers has a few dozen
// different ops. An op's rule is a function of its name, attributes, types,
// regions and constant operands (ShardingRuleOpInterface), so ops that are
// equal in name, attributes and types share it, unless they have regions or
// constants of integers (shapes, positions) that the rule may look into; those
// are asked each time.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_RULETABLE_H
#define SHARDONNAY_DIALECT_SDY_RULETABLE_H

#include "mlir/IR/Operation.h"
#include "shardonnay/algebra/Factor.h"
#include "shardonnay/algebra/Interner.h"
#include <memory>
#include <optional>
#include <unordered_map>

namespace mlir::sdy {

class RuleTable {
public:
  using RuleOf = std::optional<shardonnay::FactorRule> (*)(Operation *);

  /// Of the rules that `ruleOf` gives, such as getPropagationRule.
  explicit RuleTable(RuleOf ruleOf) : ruleOf(ruleOf) {}

  /// A number that ops with equal rules share; nothing if there is no rule.
  std::optional<int32_t> find(Operation *op);
  /// Of a number that `find` gave. Stays valid.
  const shardonnay::FactorRule &operator[](int32_t id) const {
    return rules[id];
  }
  /// The rule of the op, null if there is none. Stays valid.
  const shardonnay::FactorRule *get(Operation *op);

private:
  struct OpKind;
  struct KindDeleter {
    void operator()(OpKind *kind) const;
  };
  struct Entry {
    std::unique_ptr<OpKind, KindDeleter> kind;
    std::optional<int32_t> rule;
  };

  std::optional<int32_t> ask(Operation *op);

  RuleOf ruleOf;
  shardonnay::Interner<shardonnay::FactorRule> rules;
  /// By the hash of the kind.
  std::unordered_multimap<size_t, Entry> known;
};

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_RULETABLE_H
