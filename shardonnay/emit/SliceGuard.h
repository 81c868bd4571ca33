//===- SliceGuard.h - slices of slices that must not merge ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XLA merges a dynamic_slice of a dynamic_slice by adding their starts, and
// forgets that each start is clamped on its own:
//
//   slice(slice(x, a, 6), b, 3), x of size 8, a = 7, b = 0:  x[2], x[3], x[4]
//   merged, slice(x, a + b, 3):                              x[5], x[6], x[7]
//
// A program's starts may be out of range, so where one of its slices meets one
// that cuts a tensor into pieces, a barrier stands between them. A gather or
// scatter of one place is such a slice to XLA.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_SLICEGUARD_H
#define SHARDONNAY_EMIT_SLICEGUARD_H

#include "mlir/IR/Builders.h"

namespace shardonnay {

/// The operand of a slice that cuts it into pieces: behind a barrier if the
/// program took it out of something at a place that is data.
mlir::Value guardOperand(mlir::OpBuilder &builder, mlir::Value operand);

/// A piece that such a slice yielded: behind a barrier if the program takes
/// something out of it at a place that is data.
mlir::Value guardPiece(mlir::OpBuilder &builder, mlir::Value piece,
                       mlir::Value::user_range users);

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_SLICEGUARD_H
