//===- Vote.h - the strategy that most tensors ask for ----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides without prices what the tensors of an op ask for. In this order:
//  1. Where all tensors agree and the laws hold: what they have.
//  2. Of two tensors (unary ops) one side is kept, the larger, then the more
//     sharded; the axes that only the other has stay where they don't collide.
//  3. Otherwise the best proposal is taken again and again. A proposal is a
//     factor with a prefix of the axes that some tensor has on it; better is
//     what more tensors already have, then more bytes of tensors, then the
//     factor's kind (pass-through, reduction, indexed), then more new shards,
//     then the lower factor.
//  4. Axes that operands lose because a factor can't be sharded (in a
//     contraction: that any tensor loses) go to factors that all tensors have.
//
// A lookup (a reducing, indexed factor) at constant positions of about as many
// rows as the table has is not sharded: gathering the table is cheaper than
// combining what the devices found.
//
// Worked example, a matmul ([i, k], [k, j]) -> ([i, j]) on an axis d, the batch
// and the weight both sharded by it (FSDP): the rows are i:d, k:d and i:d. Two
// of three tensors have i:d, so it wins: the weight is gathered. With the rows
// k:d, k:d and i:d (the weight's gradient) k:d wins, the result is partial
// along d, and goes to i:d by a reduce-scatter.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_VOTE_H
#define SHARDONNAY_STRATEGY_VOTE_H

#include "shardonnay/strategy/FactorStrategy.h"

namespace shardonnay {

struct VoteProblem {
  const FactorRule &rule;
  /// Operands first, then results, as in the rule.
  llvm::ArrayRef<VoteTensor> tensors;
  /// A multiply-add per point of the factor space: not worth doing twice.
  bool contraction = false;
};

/// The voted strategy. It is lawful.
FactorStrategy voteStrategy(const VoteProblem &problem);

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_VOTE_H
