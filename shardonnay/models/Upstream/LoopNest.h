//===- LoopNest.h - loops and indexing maps as a factor rule ----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op that says which loops it has, and how these index its operands and
// results, has said what a factor rule needs: a loop is a factor. A matmul has
// the loops m, n (parallel) and k (reduction), and the maps (m, k), (k, n) and
// (m, n):
//
//   ([i, k], [k, j])->([i, j]) reduction={k}
//
// What a map has in place of a dim:
//
//   a loop            the loop's factor. Where the dim has size 1 and the loop
//                     is longer, it is repeated: it has a factor of its own.
//   2 * h + kh        one parallel loop and others: a window. h is a windowed
//                     factor, the others can't be sharded.
//   anything else     a factor of its own, not sharded, nor the loops in it
//
// A reduction whose combiner is not known can't be sharded either: a sum is not
// guessed. A loop that can't be sharded still passes axes on in propagation.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_UPSTREAM_LOOPNEST_H
#define SHARDONNAY_MODELS_UPSTREAM_LOOPNEST_H

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "shardonnay/interfaces/ShardingRule.h"

namespace shardonnay::upstream {

struct Loop {
  mlir::utils::IteratorType type = mlir::utils::IteratorType::parallel;
  /// How a reduction combines values; nothing if it is not known.
  std::optional<ReductionKind> combiner;
};

/// The loops of an op, and for each operand and result a map from them to its
/// dims; for what is no tensor a map without results.
struct LoopNest {
  llvm::SmallVector<Loop> loops;
  llvm::SmallVector<mlir::AffineMap> maps;
  /// Operands whose elements only tell where results go, and reductions start.
  llvm::SmallBitVector inits;
};

/// Nothing for dynamic shapes, and for nests that do not fit the op's types.
std::optional<FactorRule> ruleOf(mlir::Operation *op, const LoopNest &nest);

/// Of an op that puts its operands behind each other in dim `joined`, which has
/// to be whole.
std::optional<FactorRule> ruleOfJoined(mlir::Operation *op, int64_t joined);

/// PassThrough if all loops are parallel and some operand (no init) is as large
/// as the results, or there is none; BroadcastBackward if all are smaller;
/// Compute if there is a window or a reduction.
PropagationClass propagationClassOf(const LoopNest &nest);

/// All loops are parallel, and all tensors but scalars of the same shape.
bool isElementwise(mlir::Operation *op, const LoopNest &nest);

/// All tensors have the result's dims; one that has size 1 where the result has
/// not is repeated. What is no tensor, or of another rank (a zero point), has a
/// part in every element.
LoopNest elementwiseNest(mlir::Operation *op);

} // namespace shardonnay::upstream

#endif // SHARDONNAY_MODELS_UPSTREAM_LOOPNEST_H
