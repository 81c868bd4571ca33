//===- ConstantOrScalarMerger.cpp -----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In program order, for each constant expression: a constant, or an op without
// effects and regions all of whose operands are constant expressions.
// 1. Look for an equal one seen before in the same block: the same operation,
//    operands, attributes (shardings too) and types.
// 2. If there is one, use it instead.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/export/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_CONSTANTORSCALARMERGERPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
/// Operations are the same key if nothing but their place tells them apart.
struct SameExpression : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(Operation *op) {
    return OperationEquivalence::computeHash(
        op, OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(Operation *a, Operation *b) {
    if (a == b || isSentinel(a) || isSentinel(b))
      return a == b;
    return OperationEquivalence::isEquivalentTo(
        a, b, OperationEquivalence::IgnoreLocations);
  }
  static bool isSentinel(Operation *op) {
    return op == getEmptyKey() || op == getTombstoneKey();
  }
};
} // namespace

static void mergeIn(Block &block) {
  llvm::DenseSet<Operation *, SameExpression> seen;
  llvm::DenseSet<Operation *> expressions;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    bool ofConstants = llvm::all_of(op.getOperands(), [&](Value operand) {
      return expressions.contains(operand.getDefiningOp());
    });
    if (!ofConstants || op.getNumRegions() != 0 || op.getNumResults() == 0 ||
        !isMemoryEffectFree(&op))
      continue;
    auto [same, isNew] = seen.insert(&op);
    if (isNew) {
      expressions.insert(&op);
      continue;
    }
    op.replaceAllUsesWith((*same)->getResults());
    op.erase();
  }
}

namespace {
struct ConstantOrScalarMergerPass
    : impl::ConstantOrScalarMergerPassBase<ConstantOrScalarMergerPass> {
protected:
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().getBody().walk([&](Block *block) {
      // Regions of an op with a rule are part of what it computes.
      if (!isa<ShardingRuleOpInterface>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      mergeIn(*block);
  }
};
} // namespace

} // namespace shardonnay
