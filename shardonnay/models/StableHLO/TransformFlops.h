//===- TransformFlops.h - work of FFT and linear algebra --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the StableHLO model.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_TRANSFORMFLOPS_H
#define SHARDONNAY_MODELS_STABLEHLO_TRANSFORMFLOPS_H

#include "mlir/IR/Operation.h"

namespace shardonnay {

/// ShardingRuleOpInterface::getTransformFlops of every op of StableHLO and
/// CHLO: the textbook's count for one transform or matrix, times those in the
/// batch.
///   FFT of N points                  5 N log2 N, half of it for real ones
///   Cholesky of n x n                n^3 / 3
///   LU of m x n, k the smaller       2 m n k / 3
///   QR, or Q from it, m x n          2 m n k
///   any other factorisation          4 m n k
///   triangular solve, n x n and B    n times the elements of B
///   ragged dot                       2 for each element of lhs and free one of
///                                    a group of rhs
int64_t getTransformFlops(mlir::Operation *op);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_TRANSFORMFLOPS_H
