//===- ConstantExpression.h - what constants may pass through -------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_CONSTANTEXPRESSION_H
#define SHARDONNAY_INTERFACES_CONSTANTEXPRESSION_H

#include "mlir/IR/OpDefinition.h"

#include "shardonnay/interfaces/ConstantExpression.h.inc"

namespace shardonnay {

/// A tensor without dims.
bool isScalar(mlir::Type type);
/// `op` makes a tensor of scalars alone, and is cheap to compute again: it can
/// be had in any sharding without communication, as scalars are whole.
bool isScalarExpansion(mlir::Operation *op);

} // namespace shardonnay

#endif // SHARDONNAY_INTERFACES_CONSTANTEXPRESSION_H
