//===- Combiner.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/Combiner.h"
#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

std::optional<ReductionKind> shardonnay::kindOfCombiner(Operation &op) {
  if (isa<AddOp>(op))
    return ReductionKind::Sum;
  if (isa<MaxOp>(op))
    return ReductionKind::Max;
  if (isa<MinOp>(op))
    return ReductionKind::Min;
  if (!getElementTypeOrSelf(op.getOperandTypes().front()).isInteger(1))
    return std::nullopt;
  if (isa<OrOp>(op))
    return ReductionKind::Max;
  if (isa<AndOp>(op))
    return ReductionKind::Min;
  return std::nullopt;
}

Operation *shardonnay::combiningOp(Region &body) {
  Block &block = body.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return nullptr;
  Operation &op = block.front();
  if (op.getNumOperands() != 2 || block.back().getOperands() != op.getResults())
    return nullptr;
  Value left = block.getArgument(0), right = block.getArgument(1);
  bool ofArguments = (op.getOperand(0) == left && op.getOperand(1) == right) ||
                     (op.getOperand(0) == right && op.getOperand(1) == left);
  return ofArguments ? &op : nullptr;
}

std::optional<ReductionKind> shardonnay::combinerOf(Region &body) {
  Operation *op = combiningOp(body);
  return op ? kindOfCombiner(*op) : std::nullopt;
}
