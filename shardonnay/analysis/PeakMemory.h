//===- PeakMemory.h - where a program holds most ----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads functions into cost/Liveness.h. Values of types that are local count as
// they are, so after `partition` it is what one device holds. It is what XLA
// allocates, to about a fifth: chains of element-wise ops are fused
// (FusedChains.h), an op takes the place of what it reads last, results have
// their places throughout, those of donated arguments where they are given.
// What is in the memory of hosts does not count (HostValues.h).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ANALYSIS_PEAKMEMORY_H
#define SHARDONNAY_ANALYSIS_PEAKMEMORY_H

#include "mlir/IR/BuiltinOps.h"

namespace shardonnay {

struct PeakMemory {
  int64_t bytes = 0;
  /// By the arguments, and the places of the results: no plan holds less.
  int64_t held = 0;
  /// The innermost op at the peak; null: the arguments are all there is.
  mlir::Operation *op = nullptr;
  /// The values alive in op's block and around it then, the kLargestValues
  /// largest first.
  llvm::SmallVector<mlir::Value, 4> live;
};

/// As many as are worth naming to a user.
inline constexpr size_t kLargestValues = 3;

/// The peak of the function that needs most, callees inside their callers.
PeakMemory findPeakMemory(mlir::ModuleOp module);

} // namespace shardonnay

#endif // SHARDONNAY_ANALYSIS_PEAKMEMORY_H
