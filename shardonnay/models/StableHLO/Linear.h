//===- Linear.h - ops that commute with a reduction -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the StableHLO model.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_LINEAR_H
#define SHARDONNAY_MODELS_STABLEHLO_LINEAR_H

#include "mlir/IR/Operation.h"
#include "shardonnay/algebra/Reduction.h"
#include "llvm/ADT/SmallBitVector.h"

namespace shardonnay {

/// ShardingRuleOpInterface::isLinear of every op of StableHLO. True
/// where float sums only round in another order.
bool isLinear(mlir::Operation *op, ReductionKind kind,
              const llvm::SmallBitVector &partial);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_LINEAR_H
