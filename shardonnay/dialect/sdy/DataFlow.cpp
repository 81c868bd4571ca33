//===- DataFlow.cpp - computations with a body pass values on -------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operand i flows into body argument i, returned value i into result i; body
// arguments and results own their classes.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"

using namespace mlir;
using namespace mlir::sdy;
using shardonnay::ManualBoundary;

template <typename OpT> static SmallVector<Value> getOwners(OpT op) {
  SmallVector<Value> owners(op->getResults());
  llvm::append_range(owners, op.getBody().getArguments());
  return owners;
}

template <typename OpT>
static SmallVector<OpOperand *> getSources(OpT op, Value owner) {
  if (auto argument = dyn_cast<BlockArgument>(owner))
    return {&op->getOpOperand(argument.getArgNumber())};
  Operation *terminator = op.getBody().front().getTerminator();
  return {&terminator->getOpOperand(cast<OpResult>(owner).getResultNumber())};
}

SmallVector<Value> NamedComputationOp::getEdgeOwners() {
  return getOwners(*this);
}
SmallVector<OpOperand *> NamedComputationOp::getEdgeSources(Value owner) {
  return getSources(*this, owner);
}
SmallVector<Value> NamedComputationOp::getEdgeTargets(Value owner) {
  return {owner};
}

SmallVector<Value> ManualComputationOp::getEdgeOwners() {
  return getOwners(*this);
}
SmallVector<OpOperand *> ManualComputationOp::getEdgeSources(Value owner) {
  return getSources(*this, owner);
}
SmallVector<Value> ManualComputationOp::getEdgeTargets(Value owner) {
  return {owner};
}

std::optional<ManualBoundary>
ManualComputationOp::getManualBoundary(Value owner) {
  TensorShardingAttr sharding;
  if (auto argument = dyn_cast<BlockArgument>(owner))
    sharding = getInShardings().getShardings()[argument.getArgNumber()];
  else
    sharding = getOutShardings()
                   .getShardings()[cast<OpResult>(owner).getResultNumber()];
  MeshAttr mesh = getMesh(*this, sharding);
  if (!mesh || mesh.isEmpty())
    return std::nullopt;
  shardonnay::AxisList manual;
  for (StringAttr name : getManualAxes().getValue()) {
    int64_t axis = mesh.getAxisIndex(name.getValue());
    if (mesh.getAxes()[axis].getSize() == 1)
      continue;
    manual.append(
        toAxisRef(AxisRefAttr::get(getContext(), name.getValue(), {}), mesh));
  }
  return ManualBoundary::get(toSharding(sharding, mesh), manual.sorted());
}
