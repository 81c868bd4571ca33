//===- Combiner.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/Combiner.h"
#include "mlir/IR/Matchers.h"
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

bool shardonnay::isLogAddExp(Region &body) {
  Block &block = body.front();
  if (block.getNumArguments() != 2 || block.back().getNumOperands() != 1)
    return false;
  auto left = matchers::m_Val(block.getArgument(0));
  auto right = matchers::m_Val(block.getArgument(1));
  auto distance = m_Op<SubtractOp>(left, right);
  auto less = m_Op<NegOp>(m_Op<AbsOp>(distance));
  auto sum =
      m_Op<AddOp>(m_Op<MaxOp>(left, right), m_Op<Log1pOp>(m_Op<ExpOp>(less)));
  auto same = m_Op<CompareOp>(distance, distance);
  Value result = block.back().getOperand(0);
  if (!matchPattern(result,
                    m_Op<SelectOp>(same, m_Op<AddOp>(left, right), sum)))
    return false;
  auto isNaN = result.getDefiningOp()->getOperand(0).getDefiningOp<CompareOp>();
  return isNaN.getComparisonDirection() == ComparisonDirection::NE;
}
