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
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/support/NearbyInfo.h"
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

namespace {
/// The constant expressions of a block so far.
class BlockExpressions {
public:
  /// Whether `op` is gone. Those after it are not looked at yet.
  bool merge(Operation *op) {
    bool ofConstants = llvm::all_of(op->getOperands(), [&](Value operand) {
      return all.contains(operand.getDefiningOp());
    });
    if (!ofConstants || op->getNumRegions() != 0 || op->getNumResults() == 0 ||
        !isMemoryEffectFree(op))
      return false;
    auto [same, isNew] = different.insert(op);
    if (isNew) {
      all.insert(op);
      return false;
    }
    op->replaceAllUsesWith((*same)->getResults());
    op->erase();
    return true;
  }

private:
  llvm::DenseSet<Operation *, SameExpression> different;
  llvm::DenseSet<Operation *, NearbyInfo<Operation *>> all;
};

struct ConstantOrScalarMergerPass
    : impl::ConstantOrScalarMergerPassBase<ConstantOrScalarMergerPass> {
  void runOnOperation() override {
    // The passes behind it ask for both.
    getAnalysis<OpKinds>();
    llvm::DenseMap<Block *, BlockExpressions> blocks;
    getAnalysis<ProgramOps>().forEachSharded([&](Operation *&op) {
      if (blocks[op->getBlock()].merge(op))
        op = nullptr;
    });
    markAnalysesPreserved<ProgramOps, OpKinds>();
  }
};
} // namespace

} // namespace shardonnay
