//===- Reducer.cpp - the smallest program that still does it --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reducer.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"

using namespace mlir;

namespace shardonnay {

namespace {

bool leaveOut(Operation *op) {
  if (!op->use_empty() || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  op->erase();
  return true;
}

bool replaceByOperand(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  for (Value operand : op->getOperands())
    if (operand.getType() == op->getResult(0).getType()) {
      op->getResult(0).replaceAllUsesWith(operand);
      op->erase();
      return true;
    }
  return false;
}

bool replaceByZero(Operation *op) {
  if (op->getNumResults() != 1 ||
      isa<stablehlo::ConstantOp, sdy::ConstantOp>(op))
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return false;
  OpBuilder builder(op);
  Value zero = stablehlo::ConstantOp::create(
      builder, op->getLoc(), cast<ElementsAttr>(builder.getZeroAttr(type)));
  op->getResult(0).replaceAllUsesWith(zero);
  op->erase();
  return true;
}

bool dropShardings(Operation *op) {
  bool had = bool(op->removeAttr(sdy::kShardingAttr));
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return had;
  auto name = StringAttr::get(op->getContext(), sdy::kShardingAttr);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    had |= bool(function.removeArgAttr(i, name));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    had |= bool(function.removeResultAttr(i, name));
  return had;
}

using Reduction = bool (*)(Operation *);
constexpr Reduction kReductions[] = {leaveOut, replaceByOperand, replaceByZero,
                                     dropShardings};

/// The ops inside `module`, users before what they use, and what is inside an
/// op before the op.
SmallVector<Operation *> listOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != module)
      ops.push_back(op);
  });
  std::reverse(ops.begin(), ops.end());
  return ops;
}

/// A copy with `reduction` done to `count` ops from `first` on; null if it does
/// nothing to these or the result is not valid.
OwningOpRef<ModuleOp> apply(ModuleOp module, Reduction reduction, size_t first,
                            size_t count) {
  OwningOpRef<ModuleOp> copy(module.clone());
  SmallVector<Operation *> ops = listOps(*copy);
  bool changed = false;
  // An op comes before the ops around it: none is touched once it is erased.
  for (Operation *op : ArrayRef(ops).slice(first, count))
    changed |= op->getNumRegions() == 0 || reduction == dropShardings ||
                       op->use_empty()
                   ? reduction(op)
                   : false;
  ScopedDiagnosticHandler silence(module.getContext(),
                                  [](Diagnostic &) { return success(); });
  return changed && succeeded(verify(*copy)) ? std::move(copy) : nullptr;
}

} // namespace

OwningOpRef<ModuleOp> reduce(ModuleOp module, IsInteresting isInteresting) {
  OwningOpRef<ModuleOp> best(module.clone());
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t count = listOps(*best).size(); count > 0; count /= 2)
      for (Reduction reduction : kReductions)
        for (size_t first = 0; first < listOps(*best).size();) {
          size_t size = std::min(count, listOps(*best).size() - first);
          OwningOpRef<ModuleOp> next = apply(*best, reduction, first, size);
          if (!next || !isInteresting(*next)) {
            first += size;
            continue;
          }
          // The ops that followed may stand here now; a reduction that keeps
          // the op does nothing the second time.
          best = std::move(next);
          changed = true;
        }
  }
  return best;
}

} // namespace shardonnay
