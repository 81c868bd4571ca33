//===- MinimalCases.h - what another partitioner is told --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_MINIMALCASES_H
#define SHARDONNAY_TRANSFORMS_RESHARD_MINIMALCASES_H

#include "shardonnay/algebra/Factor.h"
#include "shardonnay/transforms/reshard/MeshScope.h"

namespace shardonnay {

/// Tensors of different sizes along a factor: parts of what becomes one.
bool joinsAlongDim(mlir::Operation *op, const FactorRule &rule);

/// In one dim that `made` shards, the result of `op` is wanted along the axes
/// that it is contracted over, and it is no larger than an operand that is
/// sharded there.
bool isWantedWhereContracted(mlir::Operation *op, const TensorSharding &made,
                             const MeshScope &scope);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_MINIMALCASES_H
