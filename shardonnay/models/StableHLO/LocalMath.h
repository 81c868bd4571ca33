//===- LocalMath.h - offsets, masks and neutral elements --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the StableHLO model: what local computations are built of.
// "Integers" are signless 32 or 64 bit.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_LOCALMATH_H
#define SHARDONNAY_MODELS_STABLEHLO_LOCALMATH_H

#include "mlir/IR/BuiltinTypes.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/interfaces/LocalCompute.h"

namespace shardonnay {

/// The axes of the factors that are exchanged.
AxisList axesOfExchanges(LocalContext &context);

/// `value` is a constant of zeros, possibly broadcast.
bool isKnownZero(mlir::Value value);

/// `value` is a constant of one finite float, possibly broadcast.
bool isKnownFinite(mlir::Value value);
/// The same, and above zero.
bool isKnownPositive(mlir::Value value);

/// `value` is a constant of the neutral elements of `kind`, possibly broadcast.
bool isKnownIdentity(mlir::Value value, ReductionKind kind);

/// `value` is a constant of the neutral elements of `combiner`, an op of two
/// operands, possibly broadcast.
bool isKnownNeutral(mlir::Value value, mlir::Operation &combiner);

/// The reduction that writing `update` over an element of `input` is: it is the
/// same known value each time, and above or below what is known to be there.
std::optional<ReductionKind> kindOfWriting(mlir::Value input,
                                           mlir::Value update);

/// Builds small computations at one place.
class LocalMath {
public:
  LocalMath(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// The integer that holds positions of a dim of `size`, and sums and
  /// differences of two.
  mlir::IntegerType positionType(int64_t size);
  /// The same, and whatever an index of type `index` holds below 2^63.
  mlir::IntegerType positionType(int64_t size, mlir::Type index);

  /// All elements `value`.
  mlir::Value splat(mlir::RankedTensorType type, int64_t value);
  /// All elements zero.
  mlir::Value zero(mlir::RankedTensorType type);
  /// The neutral element of addition: -0.0 for floats, since 0.0 would turn
  /// -0.0 into 0.0.
  mlir::Value sumIdentity(mlir::RankedTensorType type);
  /// All elements 1, of any number type.
  mlir::Value one(mlir::RankedTensorType type);
  /// The neutral element of a product or a bitwise op; null for other ops.
  mlir::Value neutral(mlir::Operation &op, mlir::RankedTensorType type);

  mlir::Value convert(mlir::Value value, mlir::Type elementType);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value subtract(mlir::Value lhs, mlir::Value rhs);
  mlir::Value compare(mlir::Value lhs, mlir::Value rhs,
                      mlir::stablehlo::ComparisonDirection direction);
  mlir::Value combine(ReductionKind kind, mlir::Value lhs, mlir::Value rhs);
  /// By what `body` does with two scalars, in element-wise ops.
  mlir::Value combine(mlir::Region &body, mlir::Value lhs, mlir::Value rhs);
  /// Both masks.
  mlir::Value both(mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value pred, mlir::Value onTrue, mlir::Value onFalse);
  /// min(max(value, low), high), of integers.
  mlir::Value clamp(mlir::Value value, int64_t low, int64_t high);
  /// low <= value < high, of integers.
  mlir::Value inRange(mlir::Value value, int64_t low, int64_t high);
  /// Repeats `value` along the dims of `type` that are not in `dims`.
  mlir::Value broadcast(mlir::Value value, mlir::RankedTensorType type,
                        llvm::ArrayRef<int64_t> dims = {});
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);

  /// Indices of any integer type as integers of `type`, its positionType. What
  /// does not fit becomes 2^63 - 1: out of bounds like before.
  mlir::Value positions(mlir::Value indices, mlir::IntegerType type);

  /// Where this device's part of a dim that `axes` shard begins: a scalar.
  mlir::Value shardStart(LocalContext &context, const AxisList &axes,
                         int64_t localSize, mlir::IntegerType type);
  /// This device is the first one along `axes`: a scalar.
  mlir::Value isFirst(LocalContext &context, const AxisList &axes);
  /// `value` on the first device along `axes`, the neutral element of addition
  /// on the others: what a partial sum starts from.
  mlir::Value onlyOnFirst(LocalContext &context, const AxisList &axes,
                          mlir::Value value);
  /// `local`, the part of operand `operand`, with `fill` behind the end of dims
  /// of exchanged factors.
  mlir::Value fillExchanged(LocalContext &context, int64_t operand,
                            mlir::Value local, mlir::Value fill);
  /// `value` of every device along `axes`, in a new first dim.
  mlir::Value gatherRows(LocalContext &context, const AxisList &axes,
                         mlir::Value value);
  /// `rows` reduced along the first dim by `body`.
  mlir::Value reduceRows(mlir::Region &body, mlir::Value rows,
                         mlir::Value init);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_LOCALMATH_H
