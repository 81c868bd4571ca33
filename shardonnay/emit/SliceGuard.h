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
// To XLA a gather or scatter of one place is such a slice, and so are the two
// that it sees once transposes, reshapes and broadcasts between them are moved
// aside, what changes nothing is gone, and loops of one iteration and calls are
// inlined. A program's starts may be out of range, and those of its local
// shards are so wherever another device has the place. So where one slice meets
// another one that way, a barrier stands behind the first. Shards alone are in
// range, and may merge.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_SLICEGUARD_H
#define SHARDONNAY_EMIT_SLICEGUARD_H

#include "mlir/IR/BuiltinOps.h"

namespace shardonnay {

/// Puts the barriers into the functions of `module`, in which the slices that
/// take shards of tensors are still `spmd` ops.
void guardSlices(mlir::ModuleOp module);

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_SLICEGUARD_H
