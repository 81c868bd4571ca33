//===- OpProblem.h - an op as a factor assignment problem -------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_OPPROBLEM_H
#define SHARDONNAY_TRANSFORMS_RESHARD_OPPROBLEM_H

#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/plan/FactorAssignment.h"
#include "shardonnay/transforms/reshard/MeshScope.h"

namespace shardonnay {

/// What `op`'s tensors ask for by their present shardings. Requires that `rule`
/// fits the op (verifyRule).
struct OpProblem {
  OpProblem(mlir::Operation *op, const FactorRule &rule,
            const MeshScope &scope);

  FactorAssignment solve() const {
    return assignFactors({rule, tensors, contraction});
  }

  const FactorRule &rule;
  llvm::SmallVector<AssignmentTensor, 0> tensors;
  bool contraction;
};

/// The rule, if there is one and it fits the op's types.
std::optional<FactorRule> getFittingRule(mlir::Operation *op);

/// Emits an error at `op` if `rule` does not fit its types.
mlir::LogicalResult verifyRule(mlir::Operation *op, const FactorRule &rule);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_OPPROBLEM_H
