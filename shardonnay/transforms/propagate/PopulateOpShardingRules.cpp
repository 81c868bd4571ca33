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

#include "shardonnay/transforms/propagate/Passes.h"
#include "shardonnay/transforms/propagate/RuleAttributes.h"

namespace shardonnay {

#define GEN_PASS_DEF_POPULATEOPSHARDINGRULESPASS
#include "shardonnay/transforms/propagate/Passes.h.inc"

namespace {
struct PopulateOpShardingRulesPass
    : impl::PopulateOpShardingRulesPassBase<PopulateOpShardingRulesPass> {
  using PopulateOpShardingRulesPassBase::PopulateOpShardingRulesPassBase;

  void runOnOperation() override {
    writeRuleAttributes(getOperation(), conservativePropagation);
  }
};
} // namespace

} // namespace shardonnay
