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

/// So many ops are looked at together: what is known of them stays small.
constexpr size_t kTogether = 1024;

struct Recorder : RewriterBase::Listener {
  explicit Recorder(OpKinds &kinds) : kinds(kinds) {}
  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override {
    kinds.add(op->getName());
    erased.erase(op);
  }
  void notifyOperationErased(Operation *op) override { erased.insert(op); }

  OpKinds &kinds;
  /// Where no op is now.
  DenseSet<Operation *> erased;
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
    forgetInside(getAnalysisManager(), getOperation());
    auto &ops = getAnalysis<ProgramOps>();
    Recorder recorder(getAnalysis<OpKinds>());
    GreedyRewriteConfig config;
    config.enableFolding(false)
        .enableConstantCSE(false)
        .setScope(&getOperation().getRegion())
        .setListener(&recorder);
    // What a change opens is looked at too.
    bool changed = false;
    for (size_t at = 0; at < ops.size();) {
      bool changedHere = false;
      (void)applyOpPatternsGreedily(findNext(ops, at, recorder.erased),
                                    patterns, config, &changedHere);
      changed |= changedHere;
    }
    if (changed)
      ops = ProgramOps(getOperation());
    markAnalysesPreserved<ProgramOps, OpKinds>();
  }

private:
  /// The next ops to look at, from number `at`, which is moved behind them.
  SmallVector<Operation *, 0>
  findNext(const ProgramOps &ops, size_t &at,
           const DenseSet<Operation *> &erased) const {
    const auto &kinds = patterns.getOpSpecificNativePatterns();
    SmallVector<Operation *, 0> found;
    for (; at < ops.size() && found.size() < kTogether; ++at)
      if (Operation *op = ops[at];
          !erased.contains(op) &&
          (kinds.contains(op->getName()) || isOpTriviallyDead(op)))
        found.push_back(op);
    return found;
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace shardonnay
