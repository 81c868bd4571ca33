//===- KnownZero.h - values that are zero everywhere ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_UPSTREAM_KNOWNZERO_H
#define SHARDONNAY_MODELS_UPSTREAM_KNOWNZERO_H

#include "mlir/IR/Value.h"

namespace shardonnay::upstream {

/// `value` is made by an op without operands whose `value` or `values` is a
/// zero, by a linalg.fill with that, or by a reshape or transpose of it.
bool isKnownZero(mlir::Value value);

} // namespace shardonnay::upstream

#endif // SHARDONNAY_MODELS_UPSTREAM_KNOWNZERO_H
