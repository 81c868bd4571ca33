//===- Divergence.h - what some devices run, others not ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Outside of manual computations a predicate is the same on all devices.
// Inside, it may differ between devices that differ in manual axes, so a
// branch, or a trip of a loop, runs on some of them only; those that
// communicate inside, along the other axes, all run it. An engine whose
// permutes wait for every device of the program has to be told.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SPMD_DIVERGENCE_H
#define SHARDONNAY_DIALECT_SPMD_DIVERGENCE_H

#include "mlir/IR/Operation.h"

namespace mlir::spmd {

/// On an op with regions that not all devices run equally often.
inline constexpr llvm::StringLiteral kDivergentAttr("spmd.divergent");

/// `local` is what `op`, in which values flow, becomes on a device. A loop of a
/// known number of trips is the same on all.
void markDivergence(Operation *op, Operation *local);

} // namespace mlir::spmd

#endif // SHARDONNAY_DIALECT_SPMD_DIVERGENCE_H
