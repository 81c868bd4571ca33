//===- OrderedBits.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/OrderedBits.h"

#include "shardonnay/dialect/stablehlo/Stablehlo.h"

using namespace mlir;

namespace shardonnay {

bool needsOrderedBits(Type element, ReductionKind kind) {
  return kind != ReductionKind::Sum &&
         isa<Float64Type, Float32Type, Float16Type, BFloat16Type,
             Float8E5M2Type, Float8E4M3FNType>(element);
}

static Value splat(OpBuilder &builder, Location loc, RankedTensorType type,
                   const APInt &value) {
  return stablehlo::ConstantOp::create(builder, loc,
                                       DenseElementsAttr::get(type, value));
}

static RankedTensorType integersOf(Value floats) {
  auto type = cast<RankedTensorType>(floats.getType());
  unsigned width = type.getElementTypeBitWidth();
  return type.clone(IntegerType::get(type.getContext(), width));
}

/// bits ^ (bits < 0 ? 0x7f..f : 0)
static Value flipNegative(OpBuilder &builder, Location loc, Value bits) {
  auto type = cast<RankedTensorType>(bits.getType());
  unsigned width = type.getElementTypeBitWidth();
  Value signs = stablehlo::ShiftRightArithmeticOp::create(
      builder, loc, bits, splat(builder, loc, type, APInt(width, width - 1)));
  Value mask = stablehlo::AndOp::create(
      builder, loc, signs,
      splat(builder, loc, type, APInt::getSignedMaxValue(width)));
  return stablehlo::XorOp::create(builder, loc, bits, mask);
}

Value toOrderedBits(OpBuilder &builder, Value floats, ReductionKind kind) {
  Location loc = floats.getLoc();
  RankedTensorType type = integersOf(floats);
  auto element = cast<FloatType>(getElementTypeOrSelf(floats.getType()));
  Value bits = stablehlo::BitcastConvertOp::create(builder, loc, type, floats);
  Value isNaN = stablehlo::CompareOp::create(builder, loc, floats, floats,
                                             stablehlo::ComparisonDirection::NE,
                                             stablehlo::ComparisonTypeAttr());
  APFloat ofKind = APFloat::getNaN(element.getFloatSemantics(),
                                   /*Negative=*/kind == ReductionKind::Min);
  Value nan = splat(builder, loc, type, ofKind.bitcastToAPInt());
  bits = stablehlo::SelectOp::create(builder, loc, isNaN, nan, bits);
  return flipNegative(builder, loc, bits);
}

Value fromOrderedBits(OpBuilder &builder, Value integers, Type element) {
  Location loc = integers.getLoc();
  auto type = cast<RankedTensorType>(integers.getType()).clone(element);
  return stablehlo::BitcastConvertOp::create(
      builder, loc, type, flipNegative(builder, loc, integers));
}

} // namespace shardonnay
