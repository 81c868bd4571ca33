//===- BlockPlan.h - the cuts of the ops of a block -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the cuts of a block's ops together, and with them how the values
// between them lie (plan/GraphChoice.h). A variable is an op, its candidates
// the cuts that OpChooser allows; or a value between ops, its candidates how it
// lies now and how the ops around it would have it. An edge costs the reshard
// between the two.
//
// Only what stands near a disagreement is weighed: ops up to kPlanRadius steps
// from one whose operands or results have to be moved. What the user fixed
// stays: arguments, results of data-flow ops, what a constraint, a data-flow op
// or a return needs, values that a region reads from outside.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_BLOCKPLAN_H
#define SHARDONNAY_TRANSFORMS_RESHARD_BLOCKPLAN_H

#include "shardonnay/transforms/reshard/BlockCases.h"

namespace shardonnay {

inline constexpr int kPlanRadius = 4;
/// What moves must save, of the cost of what was weighed: less is not worth
/// deviating from propagation for.
inline constexpr double kLeastGain = 1e-6;

struct BlockPlan {
  /// The cuts of the ops that were weighed.
  llvm::DenseMap<mlir::Operation *, OpDecision> decisions;
  /// Of what was weighed, in byte times: one op at a time, then together; no
  /// choice of the same candidates costs less than `bound`.
  double greedyCost = 0;
  double cost = 0;
  double bound = 0;
  /// Values that lie otherwise now.
  int64_t moved = 0;

  void addCosts(const BlockPlan &other) {
    greedyCost += other.greedyCost;
    cost += other.cost;
    bound += other.bound;
    moved += other.moved;
  }
};

/// Plans, and gives the values that move their new shardings: of ops without a
/// decision the cases stay true.
BlockPlan planBlock(mlir::Block &block, const BlockCases &cases,
                    OpChoosers &choosers);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_BLOCKPLAN_H
