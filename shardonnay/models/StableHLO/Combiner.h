//===- Combiner.h - what a reducing region computes -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the StableHLO model.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_COMBINER_H
#define SHARDONNAY_MODELS_STABLEHLO_COMBINER_H

#include "mlir/IR/Region.h"
#include "shardonnay/algebra/Factor.h"

namespace shardonnay {

/// The op of a region that is one op on its two arguments; null for all others.
mlir::Operation *combiningOp(mlir::Region &body);

/// add is Sum (on booleans too, where it is "or"), maximum Max, minimum Min,
/// and on booleans "or" is Max and "and" is Min. Nothing of all others.
std::optional<ReductionKind> kindOfCombiner(mlir::Operation &op);

/// That of `combiningOp`.
std::optional<ReductionKind> combinerOf(mlir::Region &body);

/// A region that is log(exp(a) + exp(b)) of its arguments, as JAX writes it:
/// taken from the larger of the two.
bool isLogAddExp(mlir::Region &body);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_COMBINER_H
