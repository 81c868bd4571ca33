//===- KnownZero.h - values that are equal everywhere -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_UPSTREAM_KNOWNZERO_H
#define SHARDONNAY_MODELS_UPSTREAM_KNOWNZERO_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Value.h"

namespace shardonnay::upstream {

/// `value` is made by an op without operands whose `value` or `values` is a
/// zero, by a linalg.fill with that, or by a reshape or transpose of it.
bool isKnownZero(mlir::Value value);

/// What all elements are of a tensor that an op without operands makes of its
/// `value` or `values`; null if they differ, or are not known.
mlir::Attribute getKnownSplat(mlir::Value value);

} // namespace shardonnay::upstream

#endif // SHARDONNAY_MODELS_UPSTREAM_KNOWNZERO_H
