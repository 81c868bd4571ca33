//===- OpProblem.h - an op as a factor strategy problem ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_OPPROBLEM_H
#define SHARDONNAY_TRANSFORMS_RESHARD_OPPROBLEM_H

#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/strategy/OpSolver.h"
#include "shardonnay/transforms/reshard/MeshScope.h"

namespace shardonnay {

/// What `op`'s tensors ask for by their present shardings. Requires that `rule`
/// fits the op (verifyRule).
OpProblem readProblem(mlir::Operation *op, const FactorRule &rule,
                      const MeshScope &scope);

/// The rule, if there is one and it fits the op's types.
std::optional<FactorRule> getFittingRule(mlir::Operation *op);

/// The price of taking a tensor of `type` from one sharding to another; nothing
/// if there is no way.
std::optional<double> priceOfReshard(OpSolver &solver,
                                     mlir::RankedTensorType type,
                                     const TensorSharding &from,
                                     const TensorSharding &to);

/// `rule` fits the types of `op`.
bool fitsTypes(mlir::Operation *op, const FactorRule &rule);
/// Emits an error at `op` if `rule` does not fit its types.
mlir::LogicalResult verifyRule(mlir::Operation *op, const FactorRule &rule);
/// Emits an error at `op` if a tensor of it has a dynamic shape.
mlir::LogicalResult verifyStatic(mlir::Operation *op);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_OPPROBLEM_H
