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

/// Fetches what this device's `count` windows see of `local`, whose dim `dim`
/// of global size `size` is cut by `axes`, as are the windows: the device of
/// index i has the windows from i * `count` on. `window` becomes the one that
/// slides over the result. What is outside the dim is `fill`.
mlir::Value fetchWindows(mlir::OpBuilder &builder, mlir::Location loc,
                         LocalContext &context, mlir::Value local, int64_t dim,
                         int64_t size, const AxisList &axes, int64_t count,
                         mlir::stablehlo::WindowDim &window, mlir::Value fill);

/// `paddings`, a row of 2 for each dim of `window`.
mlir::DenseIntElementsAttr
paddingOf(mlir::Builder &builder,
          llvm::ArrayRef<mlir::stablehlo::WindowDim> window);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_SLIDINGWINDOW_H
