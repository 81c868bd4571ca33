//===- LinalgLocal.h - a structured op on one device's slices ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The op itself on local types, and
//   what sums start from     is zero on all devices but the first
//   linalg.index             counts from the device's offset
//   padding of reductions    is masked where it would count
//   windows                  fetch the neighbours' rows that they read
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_UPSTREAM_LINALGLOCAL_H
#define SHARDONNAY_MODELS_UPSTREAM_LINALGLOCAL_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "shardonnay/models/Upstream/Attach.h"

namespace shardonnay::upstream {

/// The factor of a reduction whose partial results devices exchange is one that
/// is exchanged.
void markExchanged(mlir::linalg::LinalgOp op, FactorRule &rule);

/// `factor` is exchanged, or that of a loop that moves a window of constant
/// size.
bool mayShardLinalg(mlir::linalg::LinalgOp op, const FactorRule &rule,
                    int32_t factor);

LocalResults linalgLocally(mlir::linalg::LinalgOp op, mlir::OpBuilder &builder,
                           mlir::ValueRange operands, LocalContext &context);

} // namespace shardonnay::upstream

#endif // SHARDONNAY_MODELS_UPSTREAM_LINALGLOCAL_H
