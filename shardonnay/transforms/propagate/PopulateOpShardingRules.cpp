//===- PopulateOpShardingRules.cpp ----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Ask each op that has no rule attribute for its rule.
// 2. Write it as the attribute.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/transforms/propagate/Passes.h"

namespace shardonnay {

#define GEN_PASS_DEF_POPULATEOPSHARDINGRULESPASS
#include "shardonnay/transforms/propagate/Passes.h.inc"

namespace {
struct PopulateOpShardingRulesPass
    : impl::PopulateOpShardingRulesPassBase<PopulateOpShardingRulesPass> {
  using PopulateOpShardingRulesPassBase::PopulateOpShardingRulesPassBase;

  void runOnOperation() override {
    getOperation().walk([](ShardingRuleOpInterface op) {
      // An iota's rule has no operands; the attribute wants at least one.
      if (op->hasAttr(mlir::sdy::kShardingRuleAttr) ||
          op->getNumOperands() == 0)
        return;
      if (std::optional<FactorRule> rule = op.getFactorRule())
        op->setAttr(mlir::sdy::kShardingRuleAttr,
                    mlir::sdy::fromRule(op.getContext(), *rule));
    });
  }
};
} // namespace

} // namespace shardonnay
