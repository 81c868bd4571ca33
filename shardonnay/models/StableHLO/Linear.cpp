//===- Linear.cpp ---------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/Linear.h"
#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Combiner.h"
#include "shardonnay/models/StableHLO/LocalMath.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

/// Only the operands first .. first + count - 1 are partial, all of them.
static bool exactly(const llvm::SmallBitVector &partial, size_t first,
                    size_t count) {
  for (size_t i = 0; i < partial.size(); ++i)
    if (partial[i] != (i >= first && i < first + count))
      return false;
  return count > 0;
}

static bool isFloatOrComplex(Value value) {
  return isa<FloatType, ComplexType>(getElementTypeOrSelf(value));
}

/// A float that gets more bits, or an integer that loses some (both wrap
/// around).
static bool isLinearConvert(ConvertOp op) {
  Type from = getElementTypeOrSelf(op.getOperand());
  Type to = getElementTypeOrSelf(op.getResult());
  if (auto fromFloat = dyn_cast<FloatType>(from))
    if (auto toFloat = dyn_cast<FloatType>(to))
      return toFloat.getWidth() > fromFloat.getWidth() &&
             toFloat.getFPMantissaWidth() > fromFloat.getFPMantissaWidth();
  return isa<IntegerType>(from) && isa<IntegerType>(to) && !to.isInteger(1) &&
         to.getIntOrFloatBitWidth() <= from.getIntOrFloatBitWidth();
}

static bool isUnsigned(IntegerType type) {
  return type.isUnsigned() || type.getWidth() == 1;
}

/// What is larger does not become smaller: an integer that gets more bits,
/// with the sign that it had; any number as a float that has an infinity for
/// those that are too large.
static bool isMonotoneConvert(ConvertOp op) {
  Type from = getElementTypeOrSelf(op.getOperand());
  Type to = getElementTypeOrSelf(op.getResult());
  if (auto toFloat = dyn_cast<FloatType>(to))
    return isa<FloatType, IntegerType>(from) &&
           APFloat::semanticsHasInf(toFloat.getFloatSemantics());
  auto fromInt = dyn_cast<IntegerType>(from), toInt = dyn_cast<IntegerType>(to);
  if (!fromInt || !toInt)
    return false;
  if (isUnsigned(fromInt))
    return toInt.getWidth() > fromInt.getWidth();
  return !isUnsigned(toInt) && toInt.getWidth() >= fromInt.getWidth();
}

/// The op only moves elements, and is linear in `partial`: `count` leading
/// operands hold the elements, the others are indices. A maximum may be partial
/// in some of them: one that is whole is the maximum of its copies.
static bool isLinearMove(ReductionKind kind,
                         const llvm::SmallBitVector &partial, size_t first,
                         size_t count) {
  if (kind == ReductionKind::Sum)
    return exactly(partial, first, count);
  for (size_t i = 0; i < partial.size(); ++i)
    if (partial[i] && (i < first || i >= first + count))
      return false;
  return partial.any();
}

static bool isLinearReduce(ReduceOp op, ReductionKind kind,
                           const llvm::SmallBitVector &partial) {
  if (op.getInputs().size() != 1 || combinerOf(op.getBody()) != kind)
    return false;
  if (kind != ReductionKind::Sum)
    return partial.any();
  return partial.all() ||
         (exactly(partial, 0, 1) && isKnownZero(op.getInitValues()[0]));
}

static bool isLinearScatter(ScatterOp op, ReductionKind kind,
                            const llvm::SmallBitVector &partial) {
  if (op.getInputs().size() != 1 || partial[1] || !partial[2] ||
      combinerOf(op.getUpdateComputation()) != kind)
    return false;
  // Zeros are a sum of zeros.
  return partial[0] ||
         (kind == ReductionKind::Sum && isKnownZero(op.getInputs()[0]));
}

/// The element-wise maximum of numbers, or of truth values.
static bool isMaximum(Operation *op) {
  return isa<MaxOp>(op) ||
         (isa<OrOp>(op) && getElementTypeOrSelf(op->getResult(0)).isInteger(1));
}

static bool isMinimum(Operation *op) {
  return isa<MinOp>(op) ||
         (isa<AndOp>(op) &&
          getElementTypeOrSelf(op->getResult(0)).isInteger(1));
}

/// f(max(a, b)) = max(f(a), f(b)), and so for min, also where one is NaN or
/// infinite. Sums and products of integers wrap around; those of a float and
/// one that is not known may be NaN for the one and not for the other.
static bool isMonotone(Operation *op, const llvm::SmallBitVector &partial) {
  if (auto convert = dyn_cast<ConvertOp>(op))
    return isMonotoneConvert(convert);
  if (isa<ClampOp>(op))
    return exactly(partial, 1, 1);
  if (isa<CbrtOp, CeilOp, ExpOp, Expm1Op, FloorOp, LogisticOp, RoundOp,
          RoundNearestEvenOp, SignOp, TanhOp>(op))
    return true;
  if (isa<AddOp, MulOp>(op) && partial.count() == 1) {
    Value other = op->getOperand(partial[0] ? 1 : 0);
    return isa<AddOp>(op) ? isKnownFinite(other) : isKnownPositive(other);
  }
  if (isa<SubtractOp>(op))
    return exactly(partial, 0, 1) && isKnownFinite(op->getOperand(1));
  if (isa<DivOp>(op))
    return exactly(partial, 0, 1) && isKnownPositive(op->getOperand(1));
  return false;
}

static bool isLinearArithmetic(Operation *op, ReductionKind kind,
                               const llvm::SmallBitVector &partial) {
  if (kind != ReductionKind::Sum) {
    bool isMax = kind == ReductionKind::Max;
    // A whole value is the maximum of its copies.
    if (isMax ? isMaximum(op) : isMinimum(op))
      return partial.any();
    // One distributes over the other.
    if (isMax ? isMinimum(op) : isMaximum(op))
      return partial.count() == 1;
    return partial.any() && isMonotone(op, partial);
  }
  if (auto convert = dyn_cast<ConvertOp>(op))
    return partial.all() && isLinearConvert(convert);
  if (isa<AddOp, SubtractOp, NegOp, RealOp, ImagOp, ComplexOp>(op))
    return partial.all();
  if (isa<MulOp, DotGeneralOp, ConvolutionOp>(op))
    return partial.count() == 1;
  if (isa<DivOp>(op))
    return exactly(partial, 0, 1) && isFloatOrComplex(op->getOperand(0));
  return false;
}

bool shardonnay::isLinear(Operation *op, ReductionKind kind,
                          const llvm::SmallBitVector &partial) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<BroadcastInDimOp, ReshapeOp, TransposeOp, SliceOp, ReverseOp,
            DynamicSliceOp, GatherOp>(
          [&](auto) { return isLinearMove(kind, partial, 0, 1); })
      .Case([&](DynamicUpdateSliceOp update) {
        return isLinearMove(kind, partial, 0, 2) ||
               (kind == ReductionKind::Sum && exactly(partial, 1, 1) &&
                isKnownZero(update.getOperand()));
      })
      .Case([&](SelectOp select) {
        return isLinearMove(kind, partial, 1, 2) ||
               (kind == ReductionKind::Sum &&
                ((exactly(partial, 1, 1) && isKnownZero(select.getOnFalse())) ||
                 (exactly(partial, 2, 1) && isKnownZero(select.getOnTrue()))));
      })
      .Case([&](ConcatenateOp) {
        return isLinearMove(kind, partial, 0, partial.size());
      })
      .Case([&](PadOp pad) {
        return isLinearMove(kind, partial, 0, 2) ||
               (kind == ReductionKind::Sum && exactly(partial, 0, 1) &&
                isKnownZero(pad.getPaddingValue()));
      })
      .Case([&](ReduceOp reduce) {
        return isLinearReduce(reduce, kind, partial);
      })
      .Case([&](ScatterOp scatter) {
        return isLinearScatter(scatter, kind, partial);
      })
      .Default(
          [&](Operation *op) { return isLinearArithmetic(op, kind, partial); });
}
