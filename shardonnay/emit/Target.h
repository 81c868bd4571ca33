//===- Target.h - what an engine can do -------------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_TARGET_H
#define SHARDONNAY_EMIT_TARGET_H

#include "mlir/IR/Types.h"
#include "shardonnay/algebra/Reduction.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace shardonnay {

/// What an engine can do. What it lacks is written in another form: see
/// sdy-emit-stablehlo.
struct Target {
  /// Bodies of one and, or, xor on integers wider than a bit.
  bool reducesBitwise;
  /// Several operands in one all_reduce.
  bool reducesSeveral;
  /// Maxima and minima of complex numbers, which have no order.
  bool ordersComplex;
  /// Fourier transforms of tensors that its layout assignment, for the sake of
  /// a user (an all_gather), laid out otherwise than row-major.
  bool transformsAnyLayout;
  /// Sorts along dim -2 (some of its sorts then do nothing).
  bool countsDimsFromBack;

  /// A permute in a branch that only some devices take, all of its pairs among
  /// them; otherwise it waits for every device of the program.
  bool permutesAmongSome;

  /// Bits of an integer that it gathers and combines right; i1 aside.
  unsigned narrowestInteger;

  /// How the targets of custom calls begin that come with it.
  llvm::ArrayRef<llvm::StringLiteral> calls;

  /// PJRT's CPU client, as of jaxlib 0.10.2: adds, multiplies, maxima and
  /// minima of every number, and, or of i1; one operand; rows in its FFT; dims
  /// from the front; permutes of all devices; integers of four bits and more;
  /// LAPACK, callbacks.
  static constexpr llvm::StringLiteral kCpuCalls[] = {
      "cpu_",     "dce_sink",
      "lapack_",  "tridiagonal_solve_perturbed_ffi",
      "xla_ffi_", "xla_buffer_python_cpu_callback"};
  static constexpr Target cpu() {
    return {/*reducesBitwise=*/false,
            /*reducesSeveral=*/false,
            /*ordersComplex=*/false,
            /*transformsAnyLayout=*/false,
            /*countsDimsFromBack=*/false,
            /*permutesAmongSome=*/false,
            /*narrowestInteger=*/4,        kCpuCalls};
  }

  bool combines(mlir::Type element, ReductionKind kind) const;
  /// It has the target of a custom call without anybody registering it, or a
  /// compiler writes it in other ops.
  bool knowsCall(llvm::StringRef callTarget) const;
};

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_TARGET_H
