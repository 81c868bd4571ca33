//===- Chlo.cpp - functions beyond StableHLO ------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/chlo/Chlo.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::chlo;

#include "shardonnay/dialect/chlo/Dialect.cpp.inc"

void ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/chlo/Chlo.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/chlo/Chlo.cpp.inc"

/// A bool for each element of `operand`.
static LogicalResult inferPredicate(Value operand,
                                    SmallVectorImpl<Type> &types) {
  types.push_back(cast<RankedTensorType>(operand.getType())
                      .clone(IntegerType::get(operand.getContext(), 1)));
  return success();
}

LogicalResult IsInfOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  return inferPredicate(adaptor.getOperand(), types);
}

LogicalResult IsNegInfOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  return inferPredicate(adaptor.getOperand(), types);
}

LogicalResult IsPosInfOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  return inferPredicate(adaptor.getOperand(), types);
}
