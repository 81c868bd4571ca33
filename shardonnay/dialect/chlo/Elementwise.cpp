//===- Elementwise.cpp - element-wise functions ---------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/chlo/Chlo.h"

using namespace mlir;
using namespace mlir::chlo;

void ChloDialect::addElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/chlo/Elementwise.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/chlo/Elementwise.cpp.inc"

/// A bool for each element of `operand`.
static Type predicateOf(Value operand) {
  return cast<RankedTensorType>(operand.getType())
      .clone(IntegerType::get(operand.getContext(), 1));
}

LogicalResult IsInfOp::inferReturnTypes(MLIRContext *, MaybeLoc,
                                        Adaptor adaptor, Types &types) {
  types.push_back(predicateOf(adaptor.getOperand()));
  return success();
}

LogicalResult IsNegInfOp::inferReturnTypes(MLIRContext *, MaybeLoc,
                                           Adaptor adaptor, Types &types) {
  types.push_back(predicateOf(adaptor.getOperand()));
  return success();
}

LogicalResult IsPosInfOp::inferReturnTypes(MLIRContext *, MaybeLoc,
                                           Adaptor adaptor, Types &types) {
  types.push_back(predicateOf(adaptor.getOperand()));
  return success();
}

LogicalResult ConstantLikeOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                               Adaptor adaptor, Types &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  Type element = adaptor.getValue().getType();
  if (!RankedTensorType::isValidElementType(element))
    return emitOptionalError(location, "expected a number as value, got ",
                             adaptor.getValue());
  types.push_back(operand.clone(element));
  return success();
}
