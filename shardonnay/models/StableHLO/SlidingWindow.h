//===- SlidingWindow.h - what a device's windows see ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the StableHLO model.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_SLIDINGWINDOW_H
#define SHARDONNAY_MODELS_STABLEHLO_SLIDINGWINDOW_H

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/interfaces/LocalCompute.h"

namespace shardonnay {

/// Fetches what the rule's `window` says of `local`, an operand, where its
/// factor is sharded. What is outside the dim, and the holes, are `fill`; null:
/// anything, and there are no holes. `sharded` says how windows slide over it.
mlir::Value fetchWindow(mlir::OpBuilder &builder, mlir::Location loc,
                        LocalContext &context, mlir::Value local,
                        const FactorWindow &window, mlir::Value fill,
                        ShardWindow &sharded);

/// What was fetched so, with its holes, from where this device has windows if
/// that is another place from device to device; `sharded` says how windows
/// slide over the result. Called when all dims are fetched, since holes would
/// be fetched too.
mlir::Value alignWindow(mlir::OpBuilder &builder, mlir::Location loc,
                        LocalContext &context, mlir::Value fetched,
                        const FactorWindow &window, mlir::Value fill,
                        ShardWindow &sharded);

/// What a rule says of `dim`, a window of operand number `operand`, `factor`
/// being its factor: `size` positions, of which `count` windows see parts.
FactorWindow toFactorWindow(const mlir::stablehlo::WindowDim &dim,
                            int32_t operand, int32_t factor, int64_t size,
                            int64_t count);

/// `paddings`, a row of 2 for each dim of `window`.
mlir::DenseIntElementsAttr
paddingOf(mlir::Builder &builder,
          llvm::ArrayRef<mlir::stablehlo::WindowDim> window);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_SLIDINGWINDOW_H
