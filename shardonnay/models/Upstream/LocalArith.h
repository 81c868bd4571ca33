//===- LocalArith.h - offsets and starts in arith and tensor ----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What local computations of MLIR's own dialects are built of.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_UPSTREAM_LOCALARITH_H
#define SHARDONNAY_MODELS_UPSTREAM_LOCALARITH_H

#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/models/Upstream/KnownZero.h"

namespace shardonnay::upstream {

/// A tensor of static shape.
inline bool isStatic(mlir::Value value) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return tensor && tensor.hasStaticShape();
}

/// Builds small computations at one place.
class LocalArith {
public:
  LocalArith(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// This device's number along `axes`, an index.
  mlir::Value deviceIndex(LocalContext &context, const AxisList &axes);
  /// Where its part of a dim begins, an index.
  mlir::Value shardStart(LocalContext &context, const AxisList &axes,
                         int64_t localSize);
  /// `tensor` on the first device along `axes`, zeros (-0.0) on the others.
  mlir::Value onlyOnFirst(LocalContext &context, const AxisList &axes,
                          mlir::Value tensor);
  /// The arguments of `local`'s region, which are positions in its result,
  /// count from the beginning of the whole result.
  void shiftPositions(LocalContext &context, mlir::Operation *local);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace shardonnay::upstream

#endif // SHARDONNAY_MODELS_UPSTREAM_LOCALARITH_H
