//===- Sums.h - what canonicalisation asks of sums --------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_SUMS_H
#define SHARDONNAY_DIALECT_STABLEHLO_SUMS_H

#include "mlir/IR/Block.h"

namespace mlir::stablehlo {

/// The block adds up its two arguments, and does no more.
bool isAddition(Block &block);

/// The value is a constant of zeros of integers or floats, of any sign.
bool isZero(Value value);

/// The same of a scalar, which JAX may broadcast to a scalar.
bool isZeroScalar(Value scalar);

} // namespace mlir::stablehlo

#endif // SHARDONNAY_DIALECT_STABLEHLO_SUMS_H
