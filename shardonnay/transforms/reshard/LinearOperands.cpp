//===- LinearOperands.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/reshard/LinearOperands.h"
#include "mlir/IR/BuiltinTypes.h"
#include "shardonnay/interfaces/ShardingRule.h"

using namespace mlir;

namespace shardonnay {

std::optional<llvm::SmallBitVector>
findOwned(Operation *op, ReductionKind kind,
          const llvm::SmallBitVector &partial) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  llvm::SmallBitVector owned(op->getNumOperands());
  if (!rule || partial.none())
    return std::nullopt;
  if (rule.isLinear(kind, partial))
    return owned;
  if (kind != ReductionKind::Sum)
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    if (partial[i] || !isa<RankedTensorType>(operand.get().getType()))
      continue;
    owned.set(i);
    if (rule.isLinear(kind,
                      partial | llvm::SmallBitVector(owned.size()).set(i)))
      return llvm::SmallBitVector(owned.size()).set(i);
  }
  return rule.isLinear(kind, partial | owned) ? std::optional(owned)
                                              : std::nullopt;
}

bool isOpaque(Operation *op) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  return !rule || !rule.getFactorRule();
}

AxisList passParts(Operation *op, const Parts &made, ArrayRef<Parts> present,
                   MutableArrayRef<Parts> wanted) {
  AxisList passed;
  for (AxisRef axis : made.axes) {
    llvm::SmallBitVector partial(op->getNumOperands());
    for (auto [i, parts] : llvm::enumerate(present))
      if (parts.kind == made.kind && parts.axes.covers(axis))
        partial.set(i);
    std::optional<llvm::SmallBitVector> owned =
        isOpaque(op) ? llvm::SmallBitVector(op->getNumOperands())
                     : findOwned(op, made.kind, partial);
    if (!owned || partial.none())
      continue;
    partial |= *owned;
    for (unsigned i : partial.set_bits()) {
      wanted[i].axes.append(axis);
      wanted[i].axes = wanted[i].axes.sorted();
      wanted[i].kind = made.kind;
    }
    passed.append(axis);
  }
  return passed.sorted();
}

} // namespace shardonnay
