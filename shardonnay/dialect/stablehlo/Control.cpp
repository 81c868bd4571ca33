//===- Control.cpp - terminator and barrier -------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Assembly.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addControlOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Control.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Control.cpp.inc"

LogicalResult ReturnOp::verify() {
  OperationName parent = (*this)->getParentOp()->getName();
  if (parent.getDialectNamespace() == StablehloDialect::getDialectNamespace())
    return success();
  return emitOpError("expected to end a region of an op of stablehlo, got '")
         << parent << "'";
}

LogicalResult OptimizationBarrierOp::verify() {
  if (getNumResults() == getNumOperands() &&
      areCompatible(getOperandTypes(), getResultTypes()))
    return success();
  return emitOpError("expected results of the operands' types ")
         << getOperandTypes() << ", got " << getResultTypes();
}
