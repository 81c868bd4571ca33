//===- LoopValues.cpp - what a loop carries, run by run -------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/LoopValues.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/dialect/stablehlo/LoopStep.h"
#include "shardonnay/interfaces/DataFlowEdge.h"

using namespace mlir;

namespace shardonnay {

using sdy::readInteger;
using stablehlo::WhileOp;

static bool isArgument(Value value, Block &body) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &body;
}

Value findUnchanged(WhileOp loop, Value value) {
  Block &body = loop.getBody().front();
  if (!body.getParent()->isAncestor(value.getParentRegion()))
    return value;
  if (!isArgument(value, body))
    return {};
  unsigned number = cast<BlockArgument>(value).getArgNumber();
  return body.getTerminator()->getOperand(number) == value
             ? loop->getOperand(number)
             : Value();
}

std::optional<int64_t> findFirstCount(WhileOp loop, Value value) {
  Block &body = loop.getBody().front();
  if (!isArgument(value, body))
    return std::nullopt;
  unsigned number = cast<BlockArgument>(value).getArgNumber();
  return stablehlo::findStep(loop, number, readInteger) == 1
             ? readInteger(loop->getOperand(number))
             : std::nullopt;
}

std::optional<int64_t> findTripCount(WhileOp loop) {
  return cast<ShardableDataFlowOpInterface>(loop.getOperation())
      .getTripCount(readInteger);
}

} // namespace shardonnay
