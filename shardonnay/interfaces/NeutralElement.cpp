//===- NeutralElement.cpp - what does not count in a reduction ------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/NeutralElement.h"

#include "mlir/IR/BuiltinTypes.h"
#include <complex>

using namespace mlir;

namespace shardonnay {

static APFloat neutralFloat(FloatType type, ReductionKind kind) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  if (kind == ReductionKind::Sum)
    return APFloat::getZero(semantics, /*Negative=*/true);
  bool negative = kind == ReductionKind::Max;
  return APFloat::semanticsHasInf(semantics)
             ? APFloat::getInf(semantics, negative)
             : APFloat::getLargest(semantics, negative);
}

static APInt neutralInteger(Type type, ReductionKind kind) {
  bool isIndex = isa<IndexType>(type);
  unsigned width = isIndex ? IndexType::kInternalStorageBitWidth
                           : type.getIntOrFloatBitWidth();
  bool isUnsigned = type.isUnsignedInteger() || width == 1;
  switch (kind) {
  case ReductionKind::Sum:
    return APInt::getZero(width);
  case ReductionKind::Max:
    return isUnsigned ? APInt::getMinValue(width)
                      : APInt::getSignedMinValue(width);
  case ReductionKind::Min:
    return isUnsigned ? APInt::getMaxValue(width)
                      : APInt::getSignedMaxValue(width);
  }
  llvm_unreachable("all kinds are listed");
}

DenseElementsAttr getNeutralElement(Type element, ReductionKind kind) {
  auto scalar = RankedTensorType::get({}, element);
  if (auto complex = dyn_cast<ComplexType>(element)) {
    // Complex numbers have no order: only sums get here.
    APFloat zero = neutralFloat(cast<FloatType>(complex.getElementType()),
                                ReductionKind::Sum);
    return DenseElementsAttr::get(scalar, std::complex<APFloat>(zero, zero));
  }
  if (auto real = dyn_cast<FloatType>(element))
    return DenseElementsAttr::get(scalar, neutralFloat(real, kind));
  if (isa<IntegerType, IndexType>(element))
    return DenseElementsAttr::get(scalar, neutralInteger(element, kind));
  return nullptr;
}

} // namespace shardonnay
