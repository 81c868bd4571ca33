//===- CountedLoop.h - loops that count -------------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_COUNTEDLOOP_H
#define SHARDONNAY_MODELS_STABLEHLO_COUNTEDLOOP_H

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/interfaces/DataFlowEdge.h"

namespace shardonnay {

/// How often the body of `loop` runs, where the condition compares a counter
/// with a constant, or with what the loop carries unchanged and starts as a
/// constant, and the body adds a constant to the counter. Nothing of other
/// loops.
std::optional<int64_t> countTrips(mlir::stablehlo::WhileOp loop,
                                  ConstantReader constantOf);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_COUNTEDLOOP_H
