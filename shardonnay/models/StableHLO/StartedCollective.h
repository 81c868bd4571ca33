//===- StartedCollective.h - collectives as a pair of calls -----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the StableHLO model. `jax.lax.psum_scatter_start` and its like
// are a custom call "reduce-scatter-start", and what waits for it is one called
// "reduce-scatter-done". What the collective does is JSON text, the frontend
// attribute "async_collective_config" of the first.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_STARTEDCOLLECTIVE_H
#define SHARDONNAY_MODELS_STABLEHLO_STARTEDCOLLECTIVE_H

#include "shardonnay/algebra/Factor.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/interfaces/UserCollective.h"

namespace shardonnay {

/// That of the collective that `call` starts; none if it starts none, or one
/// whose text can't be read.
std::optional<FactorRule> startedRule(mlir::stablehlo::CustomCallOp call);

/// Fills in what the collective that `call` starts sends; false if it starts
/// none, or one whose groups can't be read.
bool readStarted(mlir::stablehlo::CustomCallOp call, UserCollective &written);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_STARTEDCOLLECTIVE_H
