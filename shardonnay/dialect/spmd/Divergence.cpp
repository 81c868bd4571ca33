//===- Divergence.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/spmd/Divergence.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"

using namespace mlir;

void spmd::markDivergence(Operation *op, Operation *local) {
  if (op->getNumRegions() == 0 ||
      !op->getParentOfType<sdy::ManualComputationOp>())
    return;
  Region &last = op->getRegions().back();
  // The body of a loop has arguments, a branch has none.
  bool isLoop = !last.empty() && last.getNumArguments() > 0;
  if (isLoop && sdy::getTrips(&last.front().front()).known)
    return;
  local->setAttr(kDivergentAttr, UnitAttr::get(op->getContext()));
}
