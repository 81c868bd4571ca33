//===- TosaControl.cpp - cond_if and while_loop ---------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/models/Upstream/Families.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

namespace {
/// Result i, argument i of both regions, operand i, and what the body yields
/// for it.
struct WhileModel
    : ShardableDataFlowOpInterface::ExternalModel<WhileModel, tosa::WhileOp> {
  SmallVector<Value> getEdgeOwners(Operation *op) const {
    return llvm::to_vector_of<Value>(op->getResults());
  }
  SmallVector<OpOperand *> getEdgeSources(Operation *op, Value owner) const {
    unsigned number = cast<OpResult>(owner).getResultNumber();
    Operation *next =
        cast<tosa::WhileOp>(op).getBodyGraph().front().getTerminator();
    return {&op->getOpOperand(number), &next->getOpOperand(number)};
  }
  SmallVector<Value> getEdgeTargets(Operation *op, Value owner) const {
    unsigned number = cast<OpResult>(owner).getResultNumber();
    auto loop = cast<tosa::WhileOp>(op);
    return {owner, loop.getCondGraph().getArgument(number),
            loop.getBodyGraph().getArgument(number)};
  }
};

/// The results, each with what both branches yield for it; and the arguments,
/// each with the operand behind the condition that both branches get.
struct IfModel
    : ShardableDataFlowOpInterface::ExternalModel<IfModel, tosa::IfOp> {
  SmallVector<Value> getEdgeOwners(Operation *op) const {
    auto owners = llvm::to_vector_of<Value>(op->getResults());
    llvm::append_range(owners, op->getRegion(0).getArguments());
    return owners;
  }
  SmallVector<OpOperand *> getEdgeSources(Operation *op, Value owner) const {
    if (auto argument = dyn_cast<BlockArgument>(owner))
      return {&op->getOpOperand(argument.getArgNumber() + 1)};
    unsigned number = cast<OpResult>(owner).getResultNumber();
    SmallVector<OpOperand *> sources;
    for (Region &region : op->getRegions())
      sources.push_back(&region.front().getTerminator()->getOpOperand(number));
    return sources;
  }
  SmallVector<Value> getEdgeTargets(Operation *op, Value owner) const {
    auto argument = dyn_cast<BlockArgument>(owner);
    if (!argument)
      return {owner};
    return {owner, op->getRegion(1).getArgument(argument.getArgNumber())};
  }
};
} // namespace

void shardonnay::upstream::attachTosaControlModels(MLIRContext &context) {
  tosa::WhileOp::attachInterface<WhileModel>(context);
  tosa::IfOp::attachInterface<IfModel>(context);
}
