//===- KeptPartialSums.h - sums that the user wants passed on ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_KEPTPARTIALSUMS_H
#define SHARDONNAY_TRANSFORMS_RESHARD_KEPTPARTIALSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/strategy/OpStrategies.h"
#include "shardonnay/transforms/reshard/MeshScope.h"

namespace shardonnay {

/// What `strategy`, of `table`, needs of the tensors with the parts that the
/// results are said to be in, where the op computes these of its operands'
/// parts; nothing if there are none.
std::optional<std::vector<TensorSharding>> keepParts(mlir::Operation *op,
                                                     const OpStrategy &strategy,
                                                     const OpStrategies &table,
                                                     const MeshScope &scope);

/// What loops and branches pass on is in parts where all that flows into it is
/// said to be in the same ones.
void carryParts(mlir::func::FuncOp func);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_KEPTPARTIALSUMS_H
