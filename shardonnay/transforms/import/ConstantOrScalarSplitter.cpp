//===- ConstantOrScalarSplitter.cpp - one constant for each use -----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Replace constants by `sdy.constant`.
// 2. Find the constant expressions, and tensors made of scalars, in program
//    order.
// 3. Copy them for each use: parts that one use shares stay shared.
// 4. Erase the originals, which nothing but sharding groups uses any more.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/interfaces/ConstantExpression.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/import/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_CONSTANTORSCALARSPLITTERPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

/// If its operands are constant, `op` is a constant expression.
bool canBeCopied(Operation *op) {
  auto expression = dyn_cast<ConstantExpressionOpInterface>(op);
  return expression && expression.isConstantExpression() &&
         op->getNumResults() == 1 && isPure(op);
}

/// `op` makes a tensor of scalars.
bool isScalarExpansion(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && type.hasStaticShape() && type.getNumElements() > 1 &&
         op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperandTypes(), isScalar);
}

class ConstantSplitter {
public:
  explicit ConstantSplitter(ModuleOp module) : module(module) {}

  void run() {
    replaceConstants();
    findExpressions();
    copyForUses();
    eraseOriginals();
  }

private:
  void walk(llvm::function_ref<void(Operation *)> visit);
  void replaceConstants();
  void findExpressions();
  void copyForUses();
  void eraseOriginals();

  /// The expression behind `value` that is to be copied; null if `value` is
  /// none, or of rank 0.
  Operation *getCopied(Value value) {
    Operation *op = value.getDefiningOp();
    return op && expressions.contains(op) && !isScalar(value.getType())
               ? op
               : nullptr;
  }
  Value copy(Operation *op, IRMapping &copies);

  ModuleOp module;
  /// What is copied, in program order.
  llvm::SetVector<Operation *> expressions;
};

/// Calls `visit` in program order. The regions of ops with a sharding rule are
/// left out: nothing in them is sharded.
void ConstantSplitter::walk(llvm::function_ref<void(Operation *)> visit) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    visit(op);
    return isa<ShardingRuleOpInterface>(op) ? WalkResult::skip()
                                            : WalkResult::advance();
  });
}

void ConstantSplitter::replaceConstants() {
  SmallVector<std::pair<Operation *, ElementsAttr>> constants;
  walk([&](Operation *op) {
    ElementsAttr value;
    if (!isa<ConstantOp>(op) && matchPattern(op, m_Constant(&value)) &&
        isa<RankedTensorType>(value.getType()) &&
        value.getType() == op->getResult(0).getType())
      constants.emplace_back(op, value);
  });
  for (auto [op, value] : constants) {
    OpBuilder builder(op);
    auto constant = ConstantOp::create(builder, op->getLoc(), value);
    constant->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->replaceAllUsesWith(constant);
    op->erase();
  }
}

void ConstantSplitter::findExpressions() {
  llvm::DenseSet<Operation *> constants;
  auto isConstant = [&](Value value) {
    return constants.contains(value.getDefiningOp());
  };
  walk([&](Operation *op) {
    if (isa<ConstantOp>(op) ||
        (canBeCopied(op) && llvm::all_of(op->getOperands(), isConstant)))
      constants.insert(op);
    else if (!canBeCopied(op) || !isScalarExpansion(op))
      return;
    expressions.insert(op);
  });
}

/// The copy of `op` among `copies`; makes it, at `op`, with all that it uses.
Value ConstantSplitter::copy(Operation *op, IRMapping &copies) {
  Value original = op->getResult(0);
  if (Value done = copies.lookupOrNull(original))
    return done;
  for (Value operand : op->getOperands())
    if (Operation *part = getCopied(operand))
      copy(part, copies);
  OpBuilder builder(op);
  Value result = builder.clone(*op, copies)->getResult(0);
  for (Operation *user : llvm::to_vector(original.getUsers()))
    if (auto group = dyn_cast<ShardingGroupOp>(user))
      ShardingGroupOp::create(builder, group.getLoc(), result,
                              group.getGroupIdAttr());
  return result;
}

void ConstantSplitter::copyForUses() {
  SmallVector<OpOperand *> uses;
  walk([&](Operation *op) {
    if (expressions.contains(op) || isa<ShardingGroupOp>(op))
      return;
    for (OpOperand &operand : op->getOpOperands())
      if (getCopied(operand.get()))
        uses.push_back(&operand);
  });
  for (OpOperand *use : uses) {
    IRMapping copies;
    use->set(copy(getCopied(use->get()), copies));
  }
}

void ConstantSplitter::eraseOriginals() {
  for (Operation *op : llvm::reverse(expressions)) {
    SmallVector<Operation *> users(op->getUsers());
    if (!llvm::all_of(users, llvm::IsaPred<ShardingGroupOp>))
      continue;
    // A scalar's group is no copy's: with it the scalar stays.
    if (!users.empty() && isScalar(op->getResult(0).getType()))
      continue;
    for (Operation *group : users)
      group->erase();
    op->erase();
  }
}

struct ConstantOrScalarSplitterPass
    : impl::ConstantOrScalarSplitterPassBase<ConstantOrScalarSplitterPass> {
  void runOnOperation() override { ConstantSplitter(getOperation()).run(); }
};

} // namespace
} // namespace shardonnay
