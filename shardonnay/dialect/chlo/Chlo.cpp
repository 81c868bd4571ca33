//===- Chlo.cpp - functions beyond StableHLO ------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/chlo/Chlo.h"

#include "mlir/IR/Builders.h"
#include "shardonnay/interfaces/ForeignBytecode.h"

using namespace mlir;
using namespace mlir::chlo;

#include "shardonnay/dialect/chlo/Dialect.cpp.inc"

void ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/chlo/Chlo.cpp.inc"
      >();
  shardonnay::addForeignBytecodeRefusal(*this);
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

void TopKOp::getAsmResultNames(function_ref<void(Value, StringRef)> setNameFn) {
  setNameFn(getValues(), "values");
  setNameFn(getIndices(), "indices");
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  if (operand.getRank() == 0)
    return emitOptionalError(location,
                             "expected a tensor of rank 1 or more, "
                             "got ",
                             operand);
  int64_t size = operand.getShape().back(), k = adaptor.getK();
  if (!ShapedType::isDynamic(size) && size < k)
    return emitOptionalError(location, "can't pick ", k, " of ", size,
                             " elements");
  SmallVector<int64_t> shape(operand.getShape());
  shape.back() = k;
  types.push_back(operand.clone(shape));
  types.push_back(operand.clone(shape, IntegerType::get(context, 32)));
  return success();
}
