//===- Reshape.h - the factors of a reshape ---------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both shapes are consumed major to minor.
// Where as many elements stand behind on one side as on the other, the greatest
// common divisor of what is left of the two dims is a factor of both:
//
//   8x4 -> 2x16     ([ij, k])->([i, jk]) {i=2, j=4, k=4}
//
// Where the two dims have no common divisor, each side gets factors of its own
// until as many elements stand behind again:
//
//   6x4 -> 4x6      ([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2}
//
// A common factor that is the first of its dims may be sharded unevenly: a
// device fetches the rest of its rows (or gives up what is in the next device's
// shard of the merged dim). Of 384 -> 6x64 on 4 devices each holds 96 elements
// and needs those of two rows, 128.
//
// A factor that only one side has can't be sharded: the devices' parts of the
// two sides would hold different elements.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_RESHAPE_H
#define SHARDONNAY_MODELS_STABLEHLO_RESHAPE_H

#include "shardonnay/interfaces/LocalCompute.h"

namespace shardonnay {

/// The rule of reshaping `from` to `to`, of the same number of elements, not 0.
FactorRule reshapeRule(llvm::ArrayRef<int64_t> from,
                       llvm::ArrayRef<int64_t> to);

/// A reshape of operand 0 by that rule, on this device. Where a merged or split
/// dim is sharded unevenly, its shards become whole rows of the first factor
/// before `reshape`, and even shards after it.
mlir::Value
reshapeInRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value operand,
              LocalContext &context,
              llvm::function_ref<mlir::Value(mlir::RankedTensorType type,
                                             mlir::Value operand)>
                  reshape);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_RESHAPE_H
