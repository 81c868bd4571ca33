//===- Invariants.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/collectives/Invariants.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/interfaces/CarriedValue.h"

using namespace mlir;

namespace shardonnay {

/// How far a chain of ops is followed that no run of the loop changes.
static constexpr unsigned kMaxDepth = 100;

bool Invariants::isOutside(Value value) const {
  return !loop->isAncestor(value.getParentBlock()->getParentOp());
}

Value Invariants::skipBarriers(Value value) const {
  while (!isOutside(value)) {
    auto barrier = value.getDefiningOp<ShardableDataFlowOpInterface>();
    if (!barrier || barrier->getNumRegions() > 0)
      break;
    SmallVector<OpOperand *> sources = barrier.getEdgeSources(value);
    if (sources.size() != 1 || sources.front()->getOwner() != barrier)
      break;
    value = sources.front()->get();
  }
  return value;
}

bool Invariants::contain(Value value, unsigned depth) {
  value = skipBarriers(value);
  if (isOutside(value))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return getInvariantSource(argument, loop) != nullptr;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  return known[value] =
             depth < kMaxDepth && isPure(op) && op->getNumRegions() == 0 &&
             llvm::all_of(
                 op->getOperands(),
                 [&](Value operand) { return contain(operand, depth + 1); });
}

} // namespace shardonnay
