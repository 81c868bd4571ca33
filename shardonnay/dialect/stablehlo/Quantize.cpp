//===- Quantize.cpp - integers that stand for reals -----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/support/Diagnostics.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addQuantizeOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Quantize.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Quantize.cpp.inc"

/// The type of the reals that elements of type `element` stand for, or are.
static Type expressedType(Type element) {
  auto quantized = dyn_cast<quant::QuantizedType>(element);
  return quantized ? quantized.getExpressedType() : element;
}

LogicalResult UniformQuantizeOp::verify() {
  Type from = expressedType(getElementTypeOrSelf(getOperand()));
  Type to = expressedType(getElementTypeOrSelf(getResult()));
  if (from == to)
    return success();
  return shardonnay::pointAtOperand(
      emitOpError("quantizes reals of type ")
          << from << ", expected a result that stands for them, got " << to,
      getOperand());
}

LogicalResult UniformDequantizeOp::inferReturnTypes(MLIRContext *, MaybeLoc,
                                                    Adaptor adaptor,
                                                    Types &types) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  types.push_back(type.clone(expressedType(type.getElementType())));
  return success();
}
