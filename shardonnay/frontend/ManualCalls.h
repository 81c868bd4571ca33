//===- ManualCalls.h - manual computations between boundaries ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// HLO has no op for a computation on local tensors: a custom call turns global
// tensors into local ones, ops follow, and another custom call turns the
// results into global tensors. What is between is gathered here into one op.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_MANUALCALLS_H
#define SHARDONNAY_FRONTEND_MANUALCALLS_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/dialect/sdy/Ops.h"

namespace shardonnay {

/// Where values turn from global to local, or from local to global. The custom
/// call is a cast here, with as many operands as results.
struct ManualCallBoundary {
  mlir::UnrealizedConversionCastOp cast;
  bool enters = true;
  /// The shardings of the global values, one for each.
  llvm::SmallVector<mlir::sdy::TensorShardingAttr> shardings;
  /// Those that become manual, or cease to be, in the mesh's order.
  llvm::SmallVector<mlir::StringAttr> manualAxes;
};

/// Puts what is between the boundaries into manual computations, one for each
/// set of connected ops, and erases the boundaries. All boundaries of a block
/// must be given. Errors: a local value that leaves without a boundary; a
/// global one that is used inside without one (what depends on no argument is
/// copied into the computation); boundaries of one computation with different
/// axes; a computation that needs its own results.
mlir::LogicalResult
formManualComputations(llvm::ArrayRef<ManualCallBoundary> boundaries);

} // namespace shardonnay

#endif // SHARDONNAY_FRONTEND_MANUALCALLS_H
