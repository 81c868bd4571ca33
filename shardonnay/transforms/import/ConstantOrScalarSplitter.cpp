//===- ConstantOrScalarSplitter.cpp - one constant for each use -----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. In program order, replace constants by `sdy.constant`, and find the
//    constant expressions, and tensors made of scalars. A call of a function
//    whose body is one on constant arguments is one too.
// 2. Copy them for each use but the last, which takes the original: parts that
//    one use shares stay shared. A copied call calls a copy of its function,
//    which remembers the function's name in `sdy.original_func_name`.
// 3. Erase the originals that nothing but sharding groups uses any more.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/interfaces/ConstantExpression.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/CallOrder.h"
#include "shardonnay/transforms/import/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_CONSTANTORSCALARSPLITTERPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

/// A constant that is no tensor: it has no sharding, and one serves all uses.
bool isNumber(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() &&
         !isa<ShapedType>(op->getResult(0).getType());
}

/// The value of a constant tensor that is no `sdy.constant` yet.
ElementsAttr getForeignConstant(Operation *op) {
  ElementsAttr value;
  return !isa<ConstantOp>(op) && op->getNumRegions() == 0 &&
                 matchPattern(op, m_Constant(&value)) &&
                 isa<RankedTensorType>(value.getType()) &&
                 value.getType() == op->getResult(0).getType()
             ? value
             : nullptr;
}

/// If its operands are constant, `op` is a constant expression.
bool canBeCopied(Operation *op) {
  auto expression = dyn_cast<ConstantExpressionOpInterface>(op);
  return expression && expression.isConstantExpression() &&
         op->getNumResults() == 1 && isPure(op);
}

/// Finds calls and named computations that are constant expressions, as far as
/// their operands are.
class ConstantBodies {
public:
  explicit ConstantBodies(SymbolTable &symbols) : symbols(symbols) {}

  bool contains(Operation *op) {
    if (op->getNumResults() == 0)
      return false;
    if (auto computation = dyn_cast<NamedComputationOp>(op))
      return isConstant(computation.getBody());
    auto call = dyn_cast<func::CallOp>(op);
    func::FuncOp callee = call ? getCallee(call, symbols) : func::FuncOp();
    return callee && callee.isPrivate() && isConstant(callee.getBody());
  }

private:
  bool isConstant(Region &body) {
    // Of a body that calls itself, no.
    auto [known, isNew] = found.try_emplace(&body, false);
    if (!isNew || !body.hasOneBlock())
      return known->second;
    bool constant =
        llvm::all_of(body.front().without_terminator(), [&](Operation &op) {
          return isa<ConstantOp>(op) || getForeignConstant(&op) ||
                 canBeCopied(&op) || contains(&op);
        });
    return found[&body] = constant;
  }

  SymbolTable &symbols;
  llvm::DenseMap<Region *, bool> found;
};

class ConstantSplitter {
public:
  ConstantSplitter(ModuleOp module, ProgramOps &ops)
      : ops(ops), symbols(module), bodies(symbols) {
    ops.forEachSharded([&](Operation *&op) {
      op = replaceConstant(op);
      classify(op);
    });
  }

  void run() {
    splitUses();
    eraseOriginals();
  }

private:
  Operation *replaceConstant(Operation *op);
  void classify(Operation *op);
  llvm::DenseSet<Operation *> findShared();
  void splitUses();
  void eraseOriginals();

  /// The expression behind `value` that is to be copied; null if `value` is
  /// none, or of rank 0.
  Operation *getCopied(Value value) {
    Operation *op = value.getDefiningOp();
    return op && expressions.contains(op) && !isScalar(value.getType())
               ? op
               : nullptr;
  }
  void split(OpOperand &use, IRMapping &copies);
  void copy(Operation *op, IRMapping &copies);
  /// Gives the calls in `op`, itself included, callees of their own.
  void copyCallees(Operation *op);

  bool isConstant(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && (isa<ConstantOp>(op) || constants.contains(op));
  }

  /// Without copies.
  ProgramOps &ops;
  SymbolTable symbols;
  ConstantBodies bodies;
  /// But for `sdy.constant`s, which are most.
  llvm::DenseSet<Operation *> constants;
  bool hasGroups = false;
  /// What is copied, in program order.
  llvm::SetVector<Operation *> expressions;
};

/// Returns what stands in the place of `op` then.
Operation *ConstantSplitter::replaceConstant(Operation *op) {
  ElementsAttr value = getForeignConstant(op);
  if (!value)
    return op;
  OpBuilder builder(op);
  auto constant = ConstantOp::create(builder, op->getLoc(), value);
  constant->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(constant);
  op->erase();
  return constant;
}

void ConstantSplitter::classify(Operation *op) {
  hasGroups |= isa<ShardingGroupOp>(op);
  if (isNumber(op)) {
    constants.insert(op);
    return;
  }
  if (!isa<ConstantOp>(op)) {
    if (llvm::all_of(op->getOperands(),
                     [&](Value operand) { return isConstant(operand); }) &&
        (canBeCopied(op) || bodies.contains(op)))
      constants.insert(op);
    else if (!isScalarExpansion(op))
      return;
  }
  expressions.insert(op);
}

/// Those that several uses reach, or that call functions.
llvm::DenseSet<Operation *> ConstantSplitter::findShared() {
  llvm::DenseSet<Operation *> shared;
  for (Operation *op : expressions) {
    bool mayBeShared =
        op->getNumResults() > 1 || !isScalar(op->getResult(0).getType());
    auto isShared = [&](Value operand) {
      return shared.contains(operand.getDefiningOp());
    };
    if (mayBeShared && !op->use_empty() &&
        (!op->hasOneUse() || op->getNumRegions() > 0 || isa<func::CallOp>(op) ||
         llvm::any_of(op->getOperands(), isShared)))
      shared.insert(op);
  }
  return shared;
}

void ConstantSplitter::splitUses() {
  // A program that gives each use its own constant is left as it is.
  llvm::DenseSet<Operation *> shared = findShared();
  if (shared.empty())
    return;
  llvm::DenseSet<Operation *> users;
  for (Operation *op : shared)
    users.insert_range(op->getUsers());
  SmallVector<OpOperand *> uses;
  ops.forEachSharded([&](Operation *op) {
    if (!users.contains(op) || expressions.contains(op) ||
        isa<ShardingGroupOp>(op))
      return;
    for (OpOperand &operand : op->getOpOperands())
      if (shared.contains(operand.get().getDefiningOp()))
        uses.push_back(&operand);
  });
  for (OpOperand *use : uses) {
    IRMapping copies;
    split(*use, copies);
  }
}

/// Gives `use` an expression that no other use reaches.
void ConstantSplitter::split(OpOperand &use, IRMapping &copies) {
  Operation *op = getCopied(use.get());
  if (!op)
    return;
  bool isLast = use.get().hasOneUse() && op->getNumRegions() == 0 &&
                !isa<func::CallOp>(op);
  if (isLast && !copies.contains(use.get())) {
    for (OpOperand &operand : op->getOpOperands())
      split(operand, copies);
    return;
  }
  copy(op, copies);
  use.set(copies.lookup(use.get()));
}

/// Puts a copy of `op` among `copies`, at `op`, with all that it uses.
void ConstantSplitter::copy(Operation *op, IRMapping &copies) {
  if (copies.contains(op->getResult(0)))
    return;
  for (Value operand : op->getOperands())
    if (Operation *part = getCopied(operand))
      copy(part, copies);
  OpBuilder builder(op);
  copyCallees(builder.clone(*op, copies));
  for (Value original : op->getResults())
    for (Operation *user : llvm::to_vector(original.getUsers()))
      if (auto group = dyn_cast<ShardingGroupOp>(user))
        ShardingGroupOp::create(builder, group.getLoc(),
                                copies.lookup(original),
                                group.getGroupIdAttr());
}

void ConstantSplitter::copyCallees(Operation *op) {
  op->walk([&](func::CallOp call) {
    func::FuncOp callee = getCallee(call, symbols);
    func::FuncOp clone = callee.clone();
    if (!clone->hasAttr(kOriginalFuncNameAttr))
      clone->setAttr(kOriginalFuncNameAttr, callee.getSymNameAttr());
    symbols.insert(clone);
    call.setCallee(clone.getSymName());
    copyCallees(clone);
  });
}

void ConstantSplitter::eraseOriginals() {
  for (Operation *op : llvm::reverse(expressions)) {
    if (!op->use_empty() &&
        (!hasGroups ||
         !llvm::all_of(op->getUsers(), llvm::IsaPred<ShardingGroupOp>)))
      continue;
    SmallVector<Operation *> users(op->getUsers());
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
  void runOnOperation() override {
    ModuleOp module = getOperation();
    forgetInside(getAnalysisManager(), getOperation());
    ConstantSplitter(module, getAnalysis<ProgramOps>()).run();
    if (auto kinds = getCachedAnalysis<OpKinds>()) {
      kinds->get().add({ConstantOp::getOperationName(), &getContext()});
      markAnalysesPreserved<OpKinds>();
    }
  }
};

} // namespace
} // namespace shardonnay
