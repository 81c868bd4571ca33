//===- LinalgExchange.h - reductions by parts that go around ----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two kinds of reductions have parts that are no partial sums, maxima or
// minima, but that devices can exchange, a row each, and combine in order:
//
//   by one op    a product, an unsigned maximum
//   an extremum and where it is    (max(x, v), select(x > v, i, p))
//
// The second is torch-mlir's argmax. What is at stake in a comparison is the
// extremum of all elements before, so the devices exchange extrema first; each
// then searches its part from the extremum of those before it, as the whole op
// does when it comes to that part. So equal elements, and NaN, which nothing is
// greater than, lead to the same position.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_UPSTREAM_LINALGEXCHANGE_H
#define SHARDONNAY_MODELS_UPSTREAM_LINALGEXCHANGE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "shardonnay/interfaces/LocalCompute.h"

namespace shardonnay::upstream {

/// An op of one of these kinds.
struct ExchangedReduction {
  /// The only one that reduces.
  unsigned loop;
  /// Which result `combiner` makes.
  unsigned value = 0;
  mlir::Operation *combiner;
  /// Which result says where the extremum is, if one does.
  std::optional<unsigned> position;
};

std::optional<ExchangedReduction>
matchExchangedReduction(mlir::linalg::LinalgOp op);

/// `part` computes the op on this device's part from initial values.
llvm::SmallVector<mlir::Value> reduceByExchange(
    mlir::linalg::LinalgOp op, const ExchangedReduction &kind,
    mlir::OpBuilder &builder, mlir::ValueRange inits, LocalContext &context,
    const AxisList &axes,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> part);

} // namespace shardonnay::upstream

#endif // SHARDONNAY_MODELS_UPSTREAM_LINALGEXCHANGE_H
