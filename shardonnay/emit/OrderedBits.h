//===- OrderedBits.h - floats as integers of the same order -----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The maximum or minimum of values of which one is NaN is NaN. Engines compare
// in their collectives, which loses a NaN or keeps it, as the devices happen to
// stand. As integers the values have one order:
//
//   ordered(x) = bits(x) ^ (bits(x) < 0 ? 0x7f..f : 0)
//
// rises from the NaN with a sign over -inf, -0, +0 and +inf to the NaN without
// one; which of them a NaN becomes depends on the reduction. The function is
// its own inverse.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_ORDEREDBITS_H
#define SHARDONNAY_EMIT_ORDEREDBITS_H

#include "mlir/IR/Builders.h"
#include "shardonnay/algebra/Reduction.h"

namespace shardonnay {

/// Whether a reduction of `element` may lose a NaN that this order keeps. Not
/// so for types without a NaN of each sign.
bool needsOrderedBits(mlir::Type element, ReductionKind kind);

/// The integers of the same shape whose maximum (minimum) is that of `floats`,
/// and NaN where one is.
mlir::Value toOrderedBits(mlir::OpBuilder &builder, mlir::Value floats,
                          ReductionKind kind);

/// The floats of `element` that the integers stand for.
mlir::Value fromOrderedBits(mlir::OpBuilder &builder, mlir::Value integers,
                            mlir::Type element);

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_ORDEREDBITS_H
