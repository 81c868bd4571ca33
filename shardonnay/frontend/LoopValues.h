//===- LoopValues.h - what a loop carries, run by run -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_LOOPVALUES_H
#define SHARDONNAY_FRONTEND_LOOPVALUES_H

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include <optional>

namespace shardonnay {

/// What `loop` starts with in the place of `value`, which no run changes: an
/// argument of the body that is returned as it is, or a value from outside,
/// which is its own. Null if some run changes it.
mlir::Value findUnchanged(mlir::stablehlo::WhileOp loop, mlir::Value value);

/// What `value` is in the first run, if it is an argument of the body of `loop`
/// and one more in each run after that.
std::optional<int64_t> findFirstCount(mlir::stablehlo::WhileOp loop,
                                      mlir::Value value);

/// How often the body of `loop` runs, where that is known.
std::optional<int64_t> findTripCount(mlir::stablehlo::WhileOp loop);

} // namespace shardonnay

#endif // SHARDONNAY_FRONTEND_LOOPVALUES_H
