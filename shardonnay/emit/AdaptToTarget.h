//===- AdaptToTarget.h - what a target lacks, otherwise ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_ADAPTTOTARGET_H
#define SHARDONNAY_EMIT_ADAPTTOTARGET_H

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/emit/Target.h"

namespace shardonnay {

/// Writes an all_reduce that the program came with (in a manual computation) in
/// a form that `target` has:
///   * of several operands: one for each,
///   * bitwise: everything to everyone, who reduce it.
/// Leaves it where the target has it, or there is no such form.
void adaptToTarget(mlir::stablehlo::AllReduceOp op, const Target &target);

/// Holds the result's layout row-major where `target` transforms such only.
void adaptToTarget(mlir::stablehlo::FftOp op, const Target &target);

/// Counts the dim from the front where `target` misreads a negative one.
void adaptToTarget(mlir::stablehlo::SortOp op, const Target &target);

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_ADAPTTOTARGET_H
