//===- CallCounts.h - how often a function runs -----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ANALYSIS_CALLCOUNTS_H
#define SHARDONNAY_ANALYSIS_CALLCOUNTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace shardonnay {

/// How often the ops of each function of a module run when each public one is
/// called once: a body counts for each call of it.
class CallCounts {
public:
  explicit CallCounts(mlir::ModuleOp module);
  /// How often the function around `op`, or `op` itself, is called; 1 outside
  /// of functions. A call in a loop counts once.
  int64_t of(mlir::Operation *op) const;
  /// The same, with calls in loops as often as these run, where that is known.
  int64_t executed(mlir::Operation *op) const;

private:
  struct Counts {
    int64_t calls = 0, executed = 0;
  };
  Counts find(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Operation *, Counts> counts;
};

} // namespace shardonnay

#endif // SHARDONNAY_ANALYSIS_CALLCOUNTS_H
