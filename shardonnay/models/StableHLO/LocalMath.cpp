//===- LocalMath.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/LocalMath.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/IRMapping.h"
#include "shardonnay/interfaces/NeutralElement.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Combiner.h"
#include "llvm/ADT/APSInt.h"
#include <complex>

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

AxisList shardonnay::axesOfExchanges(LocalContext &context) {
  AxisList axes;
  for (auto [id, factor] : llvm::enumerate(context.rule().factors))
    if (factor.exchanged)
      axes.append(context.factorAxes(id));
  return axes;
}

/// The constant that `value` repeats, or repeats in another type if it may be
/// `converted`.
static DenseElementsAttr getKnownSplat(Value value, bool converted = false) {
  Operation *op = value.getDefiningOp();
  while (isa_and_present<BroadcastInDimOp, ReshapeOp>(op) ||
         (converted && isa_and_present<ConvertOp>(op)))
    op = op->getOperand(0).getDefiningOp();
  // Before `emit`, constants are not StableHLO's.
  auto constant =
      op ? op->getAttrOfType<DenseElementsAttr>("value") : DenseElementsAttr();
  return constant && constant.isSplat() ? constant : DenseElementsAttr();
}

bool shardonnay::isKnownZero(Value value) {
  DenseElementsAttr splat = getKnownSplat(value, /*converted=*/true);
  if (!splat)
    return false;
  Type type = splat.getElementType();
  if (auto complex = dyn_cast<ComplexType>(type)) {
    auto number = splat.getSplatValue<std::complex<APFloat>>();
    return number.real().isZero() && number.imag().isZero();
  }
  if (isa<FloatType>(type))
    return splat.getSplatValue<APFloat>().isZero();
  return splat.getSplatValue<APInt>().isZero();
}

/// The float that `value` is known to repeat.
static std::optional<APFloat> getKnownFloat(Value value) {
  DenseElementsAttr splat = getKnownSplat(value);
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<APFloat>();
}

bool shardonnay::isKnownFinite(Value value) {
  std::optional<APFloat> number = getKnownFloat(value);
  return number && number->isFinite();
}

bool shardonnay::isKnownPositive(Value value) {
  std::optional<APFloat> number = getKnownFloat(value);
  return number && number->isFiniteNonZero() && !number->isNegative();
}

bool shardonnay::isKnownIdentity(Value value, ReductionKind kind) {
  if (kind == ReductionKind::Sum)
    return isKnownZero(value);
  DenseElementsAttr splat = getKnownSplat(value);
  if (!splat)
    return false;
  bool least = kind == ReductionKind::Max;
  Type type = splat.getElementType();
  if (isa<FloatType>(type)) {
    auto number = splat.getSplatValue<APFloat>();
    return number.isInfinity() && number.isNegative() == least;
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return false;
  auto number = splat.getSplatValue<APInt>();
  if (integer.isUnsigned() || integer.getWidth() == 1)
    return least ? number.isMinValue() : number.isMaxValue();
  return least ? number.isMinSignedValue() : number.isMaxSignedValue();
}

static bool isOne(const DenseElementsAttr &splat) {
  Type type = splat.getElementType();
  if (auto complex = dyn_cast<ComplexType>(type)) {
    auto number = splat.getSplatValue<std::complex<APFloat>>();
    return number.real().isExactlyValue(1) && number.imag().isZero();
  }
  if (isa<FloatType>(type))
    return splat.getSplatValue<APFloat>().isExactlyValue(1);
  return splat.getSplatValue<APInt>().isOne();
}

bool shardonnay::isKnownNeutral(Value value, Operation &combiner) {
  if (std::optional<ReductionKind> kind = kindOfCombiner(combiner))
    return isKnownIdentity(value, *kind);
  DenseElementsAttr splat = getKnownSplat(value);
  if (!splat)
    return false;
  if (isa<MulOp>(combiner))
    return isOne(splat);
  if (!isa<IntegerType>(splat.getElementType()))
    return false;
  if (isa<OrOp, XorOp>(combiner))
    return splat.getSplatValue<APInt>().isZero();
  return isa<AndOp>(combiner) && splat.getSplatValue<APInt>().isAllOnes();
}

std::optional<ReductionKind> shardonnay::kindOfWriting(Value input,
                                                       Value update) {
  DenseElementsAttr written = getKnownSplat(update);
  if (!written)
    return std::nullopt;
  Type type = written.getElementType();
  if (type.isInteger(1))
    return written.getSplatValue<bool>() ? ReductionKind::Max
                                         : ReductionKind::Min;
  DenseElementsAttr present = getKnownSplat(input);
  if (!present || present.getElementType() != type)
    return std::nullopt;
  APFloat::cmpResult order = APFloat::cmpUnordered;
  if (isa<FloatType>(type))
    order = written.getSplatValue<APFloat>().compare(
        present.getSplatValue<APFloat>());
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    APSInt value(written.getSplatValue<APInt>(), isUnsigned);
    APSInt before(present.getSplatValue<APInt>(), isUnsigned);
    order = value > before   ? APFloat::cmpGreaterThan
            : value < before ? APFloat::cmpLessThan
                             : APFloat::cmpEqual;
  }
  if (order == APFloat::cmpGreaterThan)
    return ReductionKind::Max;
  return order == APFloat::cmpLessThan ? std::optional(ReductionKind::Min)
                                       : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

IntegerType LocalMath::positionType(int64_t size) {
  return builder.getIntegerType(size < (int64_t(1) << 30) ? 32 : 64);
}

IntegerType LocalMath::positionType(int64_t size, Type index) {
  unsigned width = index.getIntOrFloatBitWidth();
  bool fits = index.isUnsignedInteger() ? width < 32 : width <= 32;
  return fits ? positionType(size) : builder.getI64Type();
}

Value LocalMath::positions(Value indices, IntegerType type) {
  auto tensor = cast<RankedTensorType>(indices.getType());
  if (tensor.getElementType().isUnsignedInteger(64)) {
    Value largest = splat(tensor, std::numeric_limits<int64_t>::max());
    indices = MinOp::create(builder, loc, tensor, indices, largest);
  }
  return convert(indices, type);
}

Value LocalMath::clamp(Value value, int64_t low, int64_t high) {
  auto type = cast<RankedTensorType>(value.getType());
  value = MaxOp::create(builder, loc, type, value, splat(type, low));
  return MinOp::create(builder, loc, type, value, splat(type, high));
}

Value LocalMath::inRange(Value value, int64_t low, int64_t high) {
  auto type = cast<RankedTensorType>(value.getType());
  Value above = compare(value, splat(type, low), ComparisonDirection::GE);
  Value below = compare(value, splat(type, high), ComparisonDirection::LT);
  return both(above, below);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static Value constant(OpBuilder &builder, Location loc,
                      DenseElementsAttr value) {
  return ConstantOp::create(builder, loc, value.getType(), value);
}

Value LocalMath::splat(RankedTensorType type, int64_t value) {
  auto element = cast<IntegerType>(type.getElementType());
  return constant(builder, loc,
                  DenseElementsAttr::get(type, APInt(element.getWidth(), value,
                                                     /*isSigned=*/true,
                                                     /*implicitTrunc=*/true)));
}

Value LocalMath::zero(RankedTensorType type) {
  if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
    auto zero = APFloat::getZero(
        cast<FloatType>(complex.getElementType()).getFloatSemantics());
    return constant(
        builder, loc,
        DenseElementsAttr::get(type, std::complex<APFloat>(zero, zero)));
  }
  return constant(builder, loc,
                  cast<DenseElementsAttr>(builder.getZeroAttr(type)));
}

Value LocalMath::sumIdentity(RankedTensorType type) {
  DenseElementsAttr zero =
      getNeutralElement(type.getElementType(), ReductionKind::Sum);
  return constant(builder, loc, zero.resizeSplat(type));
}

Value LocalMath::one(RankedTensorType type) {
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element)) {
    auto real = cast<FloatType>(complex.getElementType());
    std::complex<APFloat> value(builder.getFloatAttr(real, 1).getValue(),
                                APFloat::getZero(real.getFloatSemantics()));
    return constant(builder, loc, DenseElementsAttr::get(type, value));
  }
  return constant(builder, loc,
                  cast<DenseElementsAttr>(builder.getOneAttr(type)));
}

Value LocalMath::neutral(Operation &op, RankedTensorType type) {
  bool isInteger = isa<IntegerType>(type.getElementType());
  if (isa<MulOp>(op))
    return one(type);
  if (isInteger && isa<OrOp, XorOp>(op))
    return splat(type, 0);
  if (isInteger && isa<AndOp>(op))
    return splat(type, -1);
  return Value();
}

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

Value LocalMath::convert(Value value, Type elementType) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == elementType)
    return value;
  return ConvertOp::create(builder, loc, type.clone(elementType), value);
}

Value LocalMath::add(Value lhs, Value rhs) {
  return AddOp::create(builder, loc, lhs.getType(), lhs, rhs);
}

Value LocalMath::subtract(Value lhs, Value rhs) {
  return SubtractOp::create(builder, loc, lhs.getType(), lhs, rhs);
}

Value LocalMath::compare(Value lhs, Value rhs, ComparisonDirection direction) {
  return CompareOp::create(builder, loc, lhs, rhs, direction,
                           ComparisonTypeAttr());
}

Value LocalMath::combine(ReductionKind kind, Value lhs, Value rhs) {
  switch (kind) {
  case ReductionKind::Sum:
    return add(lhs, rhs);
  case ReductionKind::Max:
    return MaxOp::create(builder, loc, lhs.getType(), lhs, rhs);
  case ReductionKind::Min:
    return MinOp::create(builder, loc, lhs.getType(), lhs, rhs);
  }
  llvm_unreachable("all kinds are listed");
}

Value LocalMath::combine(Region &body, Value lhs, Value rhs) {
  ArrayRef<int64_t> shape = shapeOf(lhs);
  IRMapping mapping;
  mapping.map(body.getArguments(), ValueRange({lhs, rhs}));
  for (Operation &op : body.front().without_terminator()) {
    Operation *made = builder.clone(op, mapping);
    made->setLoc(loc);
    for (Value result : made->getResults())
      result.setType(cast<RankedTensorType>(result.getType()).clone(shape));
  }
  return mapping.lookup(body.front().back().getOperand(0));
}

Value LocalMath::both(Value lhs, Value rhs) {
  return AndOp::create(builder, loc, lhs.getType(), lhs, rhs);
}

Value LocalMath::select(Value pred, Value onTrue, Value onFalse) {
  return SelectOp::create(builder, loc, onTrue.getType(), pred, onTrue,
                          onFalse);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value LocalMath::broadcast(Value value, RankedTensorType type,
                           ArrayRef<int64_t> dims) {
  return BroadcastInDimOp::create(builder, loc, type, value, dims);
}

Value LocalMath::reshape(Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  return ReshapeOp::create(builder, loc, type, value);
}

//===----------------------------------------------------------------------===//
// This device
//===----------------------------------------------------------------------===//

Value LocalMath::shardStart(LocalContext &context, const AxisList &axes,
                            int64_t localSize, IntegerType type) {
  Value index = convert(context.deviceIndex(builder, loc, axes), type);
  auto tensor = cast<RankedTensorType>(index.getType());
  return MulOp::create(builder, loc, tensor, index, splat(tensor, localSize));
}

Value LocalMath::isFirst(LocalContext &context, const AxisList &axes) {
  Value index = context.deviceIndex(builder, loc, axes);
  return compare(index, splat(cast<RankedTensorType>(index.getType()), 0),
                 ComparisonDirection::EQ);
}

Value LocalMath::onlyOnFirst(LocalContext &context, const AxisList &axes,
                             Value value) {
  return select(isFirst(context, axes), value,
                sumIdentity(cast<RankedTensorType>(value.getType())));
}

Value LocalMath::fillExchanged(LocalContext &context, int64_t operand,
                               Value local, Value fill) {
  const FactorRule &rule = context.rule();
  ArrayRef<int64_t> whole =
      cast<RankedTensorType>(context.globalOperandTypes()[operand]).getShape();
  for (auto [dim, factors] : llvm::enumerate(rule.operands[operand].dims)) {
    AxisList axes = axesOfDim(context, rule.operands[operand], dim);
    bool exchanged = llvm::any_of(
        factors, [&](int32_t id) { return rule.factors[id].exchanged; });
    if (exchanged && whole[dim] != shapeOf(local)[dim] * axes.numShards())
      local = context.fillEnd(builder, loc, local, dim, whole[dim], axes, fill);
  }
  return local;
}

Value LocalMath::gatherRows(LocalContext &context, const AxisList &axes,
                            Value value) {
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(value.getType()).getShape());
  shape.insert(shape.begin(), 1);
  return context.allGather(builder, loc, reshape(value, shape), axes);
}

Value LocalMath::reduceRows(Region &body, Value rows, Value init) {
  auto type = cast<RankedTensorType>(rows.getType());
  Type row = type.clone(type.getShape().drop_front());
  auto reduce = ReduceOp::create(builder, loc, TypeRange(row), ValueRange(rows),
                                 ValueRange(init), ArrayRef<int64_t>(0));
  IRMapping mapping;
  body.cloneInto(&reduce.getBody(), mapping);
  return reduce->getResult(0);
}
