//===- Types.cpp - which types go together --------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"

using namespace mlir;
using namespace mlir::stablehlo;

static BoundsAttr boundsOf(RankedTensorType type) {
  return dyn_cast_if_present<BoundsAttr>(type.getEncoding());
}

/// That no size of `sizes` exceeds a bound of `bounded`.
static bool isWithinBounds(RankedTensorType bounded, RankedTensorType sizes) {
  BoundsAttr bounds = boundsOf(bounded);
  if (!bounds)
    return true;
  for (auto [bound, size] : llvm::zip(bounds.getBounds(), sizes.getShape()))
    if (!ShapedType::isDynamic(bound) && !ShapedType::isDynamic(size) &&
        size > bound)
      return false;
  return true;
}

static bool haveCompatibleShapes(Type a, Type b) {
  auto tensorA = dyn_cast<RankedTensorType>(a);
  auto tensorB = dyn_cast<RankedTensorType>(b);
  if (!tensorA || !tensorB)
    return succeeded(verifyCompatibleShape(a, b));
  return succeeded(
             verifyCompatibleShape(tensorA.getShape(), tensorB.getShape())) &&
         isWithinBounds(tensorA, tensorB) && isWithinBounds(tensorB, tensorA);
}

bool stablehlo::areCompatible(TypeRange a, TypeRange b) {
  return llvm::all_of_zip(a, b, [](Type a, Type b) {
    return getElementTypeOrSelf(a) == getElementTypeOrSelf(b) &&
           haveCompatibleShapes(a, b);
  });
}

bool stablehlo::haveCompatibleElements(Type a, Type b) {
  a = getElementTypeOrSelf(a);
  b = getElementTypeOrSelf(b);
  if (a == b)
    return true;
  auto quantA = dyn_cast<quant::QuantizedType>(a);
  auto quantB = dyn_cast<quant::QuantizedType>(b);
  if (!quantA || !quantB || quantA.getTypeID() != quantB.getTypeID() ||
      quantA.getStorageType() != quantB.getStorageType() ||
      quantA.getExpressedType() != quantB.getExpressedType())
    return false;
  auto axisA = dyn_cast<quant::UniformQuantizedPerAxisType>(a);
  auto axisB = dyn_cast<quant::UniformQuantizedPerAxisType>(b);
  return !axisA ||
         axisA.getQuantizedDimension() == axisB.getQuantizedDimension();
}

bool stablehlo::hasScalePerSlice(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element = tensor ? dyn_cast<quant::UniformQuantizedPerAxisType>(
                              tensor.getElementType())
                        : quant::UniformQuantizedPerAxisType();
  if (!element)
    return false;
  int64_t dim = element.getQuantizedDimension();
  if (dim < 0 || dim >= tensor.getRank())
    return false;
  return tensor.isDynamicDim(dim) ||
         tensor.getDimSize(dim) ==
             static_cast<int64_t>(element.getScales().size());
}

/// That `accept` holds of every two types of operands and results.
template <typename AcceptT>
static LogicalResult verifyPairs(Operation *op, StringRef what,
                                 AcceptT accept) {
  SmallVector<Type> types(op->getOperandTypes());
  types.append(op->result_type_begin(), op->result_type_end());
  for (size_t i = 0; i < types.size(); ++i)
    for (size_t j = i + 1; j < types.size(); ++j)
      if (!accept(types[i], types[j]))
        return op->emitOpError("requires ")
               << what << " for all operands and results, got " << types[i]
               << " and " << types[j];
  return success();
}

LogicalResult stablehlo::verifyCompatibleTypes(Operation *op) {
  return verifyPairs(op, "the same type", [](Type a, Type b) {
    return haveCompatibleElements(a, b) && haveCompatibleShapes(a, b);
  });
}

LogicalResult stablehlo::verifyCompatibleElementTypes(Operation *op) {
  return verifyPairs(op, "the same element type", haveCompatibleElements);
}
