//===- ExpandComposites.cpp - composites are what they decompose into -----===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/sdy/Attributes.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/support/Diagnostics.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_EXPANDCOMPOSITESPASS
#include "shardonnay/frontend/Passes.h.inc"

/// It has a rule, and can be computed by it.
static bool staysComposite(stablehlo::CompositeOp op) {
  if (!op->hasAttr(sdy::kShardingRuleAttr))
    return false;
  auto rule = dyn_cast<ShardingRuleOpInterface>(op.getOperation());
  if (rule && rule.isElementwise())
    return true;
  Operation *decomposition =
      SymbolTable::lookupNearestSymbolFrom(op, op.getDecompositionAttr());
  pointAt(emitWarning(op.getLoc())
              << "the sharding rule is not used: a composite is kept only if "
                 "its decomposition is element-wise on tensors of one shape; "
                 "it is partitioned as its decomposition",
          decomposition->getLoc(), "the decomposition is defined here");
  return false;
}

namespace {
struct ExpandCompositesPass
    : impl::ExpandCompositesPassBase<ExpandCompositesPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<stablehlo::CompositeOp>())
      return markAllAnalysesPreserved();
    SmallVector<stablehlo::CompositeOp> composites;
    getOperation().walk(
        [&](stablehlo::CompositeOp op) { composites.push_back(op); });
    for (stablehlo::CompositeOp op : composites) {
      if (staysComposite(op))
        continue;
      OpBuilder builder(op);
      auto call =
          func::CallOp::create(builder, op.getLoc(), op.getDecompositionAttr(),
                               op.getResultTypes(), op.getInputs());
      if (Attribute sharding = op->getAttr(sdy::kShardingAttr))
        call->setAttr(sdy::kShardingAttr, sharding);
      op.replaceAllUsesWith(call.getResults());
      op.erase();
    }
  }
};
} // namespace

} // namespace shardonnay
