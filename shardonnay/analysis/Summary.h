//===- Summary.h - memory, compute and shardings of a module ----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ANALYSIS_SUMMARY_H
#define SHARDONNAY_ANALYSIS_SUMMARY_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/interfaces/ShardingRule.h"

namespace shardonnay {

/// What a value of this type takes; 0 if it is no static tensor of numbers.
int64_t byteSize(mlir::Type type);

/// FLOPs of a contraction, two for each multiply-add, or of a transform; 0 of
/// other ops.
int64_t countFlops(ShardingRuleOpInterface op);

/// What one device does that runs the module as it is.
struct ProgramSummary {
  /// The most bytes alive at once (PeakMemory.h), in program order, chains of
  /// element-wise ops fused; arguments and results live throughout.
  int64_t peakBytes = 0;
  /// The part of them that the arguments take, but those on hosts.
  int64_t argumentBytes = 0;
  /// What contractions (dot, convolution) compute: two for each multiply-add.
  int64_t contractionFlops = 0;
};

ProgramSummary summarize(mlir::ModuleOp module);

/// Function arguments, function results and op results.
struct ShardingCounts {
  int64_t tensors = 0;
  /// Those with an axis in their sharding.
  int64_t sharded = 0;
};

ShardingCounts countShardings(mlir::ModuleOp module);

} // namespace shardonnay

#endif // SHARDONNAY_ANALYSIS_SUMMARY_H
