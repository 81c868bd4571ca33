//===- LoopStep.cpp - what a run of a loop adds ---------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/LoopStep.h"

namespace mlir::stablehlo {

std::optional<int64_t>
findStep(WhileOp loop, unsigned number,
         llvm::function_ref<std::optional<int64_t>(Value)> constantOf) {
  Block &body = loop.getBody().front();
  Value argument = body.getArgument(number);
  Operation *op = body.getTerminator()->getOperand(number).getDefiningOp();
  if (isa_and_present<AddOp>(op)) {
    if (op->getOperand(0) == argument)
      return constantOf(op->getOperand(1));
    if (op->getOperand(1) == argument)
      return constantOf(op->getOperand(0));
  }
  if (isa_and_present<SubtractOp>(op) && op->getOperand(0) == argument)
    if (std::optional<int64_t> step = constantOf(op->getOperand(1)))
      return -*step;
  return std::nullopt;
}

} // namespace mlir::stablehlo
