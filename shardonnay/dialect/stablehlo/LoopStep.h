//===- LoopStep.h - what a run of a loop adds -------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_LOOPSTEP_H
#define SHARDONNAY_DIALECT_STABLEHLO_LOOPSTEP_H

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include <optional>

namespace mlir::stablehlo {

/// What each run of the body of `loop` adds to carried value `number`, or
/// subtracts from it, where that is a constant; `constantOf` says which integer
/// a value is, if it is one.
std::optional<int64_t>
findStep(WhileOp loop, unsigned number,
         llvm::function_ref<std::optional<int64_t>(Value)> constantOf);

} // namespace mlir::stablehlo

#endif // SHARDONNAY_DIALECT_STABLEHLO_LOOPSTEP_H
