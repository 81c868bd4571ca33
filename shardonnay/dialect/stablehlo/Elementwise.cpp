//===- Elementwise.cpp - each result element from its own index -----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Elementwise.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Elementwise.cpp.inc"

/// The type of `value`'s tensor with elements of type `element`.
static Type withElement(Value value, Type element) {
  return cast<RankedTensorType>(value.getType()).clone(element);
}

/// The type of the real parts of `value`'s elements.
static Type realPart(Value value) {
  Type element = getElementTypeOrSelf(value);
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  return withElement(value, element);
}

LogicalResult AbsOp::inferReturnTypes(MLIRContext *, MaybeLoc, Adaptor adaptor,
                                      Types &types) {
  types.push_back(realPart(adaptor.getOperand()));
  return success();
}

LogicalResult RealOp::inferReturnTypes(MLIRContext *, MaybeLoc, Adaptor adaptor,
                                       Types &types) {
  types.push_back(realPart(adaptor.getOperand()));
  return success();
}

LogicalResult ImagOp::inferReturnTypes(MLIRContext *, MaybeLoc, Adaptor adaptor,
                                       Types &types) {
  types.push_back(realPart(adaptor.getOperand()));
  return success();
}

LogicalResult IsFiniteOp::inferReturnTypes(MLIRContext *context, MaybeLoc,
                                           Adaptor adaptor, Types &types) {
  types.push_back(
      withElement(adaptor.getOperand(), IntegerType::get(context, 1)));
  return success();
}

LogicalResult ComplexOp::inferReturnTypes(MLIRContext *, MaybeLoc,
                                          Adaptor adaptor, Types &types) {
  Value part = adaptor.getLhs();
  types.push_back(
      withElement(part, ComplexType::get(getElementTypeOrSelf(part))));
  return success();
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, MaybeLoc,
                                          Adaptor adaptor, Types &types) {
  types.push_back(withElement(adaptor.getLhs(), IntegerType::get(context, 1)));
  return success();
}

/// That `value` is a scalar or has the shape of `tensor`.
static LogicalResult checkScalarOr(MaybeLoc location, StringRef what,
                                   Value value, Value tensor) {
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  if (shape.empty())
    return success();
  return checkShape(location, what, shape,
                    cast<RankedTensorType>(tensor.getType()).getShape());
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                         Adaptor adaptor, Types &types) {
  Type onTrue = adaptor.getOnTrue().getType();
  Type onFalse = adaptor.getOnFalse().getType();
  if (!areCompatible(onTrue, onFalse))
    return emitOptionalError(location, "expected to select from one type, got ",
                             onTrue, " and ", onFalse);
  types.push_back(onTrue);
  return checkScalarOr(location, "the predicate", adaptor.getPred(),
                       adaptor.getOnTrue());
}

LogicalResult ClampOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                        Adaptor adaptor, Types &types) {
  Value operand = adaptor.getOperand();
  types.push_back(operand.getType());
  for (auto [what, bound] : {std::pair("the minimum", adaptor.getMin()),
                             std::pair("the maximum", adaptor.getMax())}) {
    if (getElementTypeOrSelf(bound) != getElementTypeOrSelf(operand))
      return emitOptionalError(location, what, " has type ", bound.getType(),
                               ", expected the element type of ",
                               operand.getType());
    if (failed(checkScalarOr(location, what, bound, operand)))
      return failure();
  }
  return success();
}
