//===- TosaNest.h - the loops of contractions and windows -------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the models of TOSA.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_UPSTREAM_TOSANEST_H
#define SHARDONNAY_MODELS_UPSTREAM_TOSANEST_H

#include "shardonnay/models/Upstream/Attach.h"

namespace shardonnay::upstream {

/// Hooks for contractions and for what reads windows, by their letters.
struct TosaNestHooks : NestHooks<TosaNestHooks> {
  static LoopNest nest(mlir::Operation *op);
  static bool isContraction(mlir::Operation *op);
  static bool isLinear(mlir::Operation *op, ReductionKind kind,
                       const llvm::SmallBitVector &partial);
  static LocalResults computeLocally(mlir::Operation *op,
                                     mlir::OpBuilder &builder,
                                     mlir::ValueRange operands,
                                     LocalContext &context);
};

/// Channels times multipliers are the channels of the result.
std::optional<FactorRule> depthwiseRule(mlir::Operation *op);

} // namespace shardonnay::upstream

#endif // SHARDONNAY_MODELS_UPSTREAM_TOSANEST_H
