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

} // namespace shardonnay
