//===- CarriedValue.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/CarriedValue.h"

using namespace mlir;

namespace shardonnay {

std::optional<CarriedValue> readCarried(ShardableDataFlowOpInterface loop,
                                        Value owner) {
  CarriedValue found;
  found.owner = owner;
  SmallVector<OpOperand *> sources = loop.getEdgeSources(owner);
  for (OpOperand *source : sources)
    (source->getOwner() == loop ? found.init : found.next) = source;
  if (!found.init || !found.next || !isa<OpResult>(owner) ||
      sources.size() != 2)
    return std::nullopt;
  for (Value target : loop.getEdgeTargets(owner)) {
    if (target == owner || target.use_empty())
      continue;
    if (found.carried || !target.hasOneUse())
      return std::nullopt;
    found.carried = target;
  }
  if (!found.carried)
    return std::nullopt;
  found.user = *found.carried.user_begin();
  if (found.user->getBlock() != found.next->getOwner()->getBlock())
    return std::nullopt;
  return found;
}

SmallVector<OpOperand *, 1> CarriedValue::followSum() const {
  SmallVector<OpOperand *, 1> reads;
  for (Value sum = carried; sum.hasOneUse() && reads.size() <= kMostAdditions;
       sum = reads.back()->getOwner()->getResult(0)) {
    OpOperand &read = *sum.use_begin();
    Operation *op = read.getOwner();
    if (&read == next)
      return reads;
    if (!isa<ShardingRuleOpInterface>(op) || op->getNumResults() != 1 ||
        op->getBlock() != user->getBlock())
      break;
    reads.push_back(&read);
  }
  return {};
}

bool isLinearIn(OpOperand &operand, ReductionKind kind) {
  Operation *op = operand.getOwner();
  llvm::SmallBitVector partial(op->getNumOperands());
  partial.set(operand.getOperandNumber());
  return cast<ShardingRuleOpInterface>(op).isLinear(kind, partial);
}

bool isLinearInBoth(OpOperand &carried, OpOperand &summand,
                    ReductionKind kind) {
  Operation *op = carried.getOwner();
  llvm::SmallBitVector partial(op->getNumOperands());
  partial.set(carried.getOperandNumber());
  partial.set(summand.getOperandNumber());
  return partial.count() == 2 &&
         cast<ShardingRuleOpInterface>(op).isLinear(kind, partial);
}

Value getInvariantSource(Value value, Operation *loop) {
  if (getOwnerOp(value) != loop)
    return nullptr;
  auto dataFlow = dyn_cast<ShardableDataFlowOpInterface>(loop);
  Value owner = dataFlow ? getEdgeOwner(value) : Value();
  if (!owner || dataFlow.getManualBoundary(owner))
    return nullptr;
  SmallVector<Value> targets = dataFlow.getEdgeTargets(owner);
  Value source;
  for (OpOperand *operand : dataFlow.getEdgeSources(owner)) {
    if (llvm::is_contained(targets, operand->get()))
      continue;
    if (operand->getOwner() != loop || source)
      return nullptr;
    source = operand->get();
  }
  return source;
}

} // namespace shardonnay
