//===- Combiner.h - what a linalg op reduces with ---------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_UPSTREAM_COMBINER_H
#define SHARDONNAY_MODELS_UPSTREAM_COMBINER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "shardonnay/algebra/Reduction.h"
#include <optional>

namespace shardonnay::upstream {

/// What the body of `op` does to each of its results: one op of `arith` on the
/// result so far and a value that does not depend on it. Sums of numbers,
/// signed maxima and minima that keep NaN, "or" (Max) and "and" (Min) of
/// booleans. Nothing for others (unsigned maxima, products, argmax), and if the
/// results differ.
std::optional<ReductionKind> combinerOf(mlir::linalg::LinalgOp op);

/// An element that is neutral in all operands that have `loop` does not change
/// the results: the value combined is an operand's element or, in sums, a
/// product of two that both have the loop.
bool ignoresNeutralElements(mlir::linalg::LinalgOp op, unsigned loop);

} // namespace shardonnay::upstream

#endif // SHARDONNAY_MODELS_UPSTREAM_COMBINER_H
