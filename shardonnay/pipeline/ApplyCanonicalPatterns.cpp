//===- ApplyCanonicalPatterns.cpp -----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's canonicalizer puts each op of the program in a table and takes it out
// again. Here the table has only ops that have patterns or that nothing uses.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/interfaces/ProgramOps.h"
#include "shardonnay/pipeline/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_APPLYCANONICALPATTERNSPASS
#include "shardonnay/pipeline/Passes.h.inc"

namespace {

struct KindRecorder : RewriterBase::Listener {
  explicit KindRecorder(OpKinds &kinds) : kinds(kinds) {}
  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override {
    kinds.add(op->getName());
  }
  OpKinds &kinds;
};

struct ApplyCanonicalPatternsPass
    : impl::ApplyCanonicalPatternsPassBase<ApplyCanonicalPatternsPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      name.getCanonicalizationPatterns(all, context);
    patterns = FrozenRewritePatternSet(std::move(all));
    return success();
  }

protected:
  void runOnOperation() override {
    auto &ops = getAnalysis<ProgramOps>();
    KindRecorder recorder(getAnalysis<OpKinds>());
    GreedyRewriteConfig config;
    config.enableFolding(false)
        .enableConstantCSE(false)
        .setScope(&getOperation().getRegion())
        .setListener(&recorder);
    // What a change opens is looked at too.
    bool changed = false;
    (void)applyOpPatternsGreedily(find(ops), patterns, config, &changed);
    if (changed)
      ops = ProgramOps(getOperation());
    markAnalysesPreserved<ProgramOps, OpKinds>();
  }

private:
  /// The ops to look at.
  SmallVector<Operation *, 0> find(const ProgramOps &ops) const {
    const auto &kinds = patterns.getOpSpecificNativePatterns();
    SmallVector<Operation *, 0> found;
    for (Operation *op : ops)
      if (kinds.contains(op->getName()) || isOpTriviallyDead(op))
        found.push_back(op);
    return found;
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace shardonnay
