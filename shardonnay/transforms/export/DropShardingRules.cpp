//===- DropShardingRules.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_DROPSHARDINGRULESPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
struct DropShardingRulesPass
    : impl::DropShardingRulesPassBase<DropShardingRulesPass> {
  void runOnOperation() override {
    auto name = StringAttr::get(&getContext(), sdy::kShardingRuleAttr);
    for (Operation *op : getAnalysis<ProgramOps>())
      if (op->getDiscardableAttr(name) && !sdy::getUserRule(op))
        op->removeDiscardableAttr(name);
    markAnalysesPreserved<ProgramOps, OpKinds>();
  }
};
} // namespace

} // namespace shardonnay
