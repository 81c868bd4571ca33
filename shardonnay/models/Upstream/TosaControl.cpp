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
struct WhileModel : WhileEdges<WhileModel, tosa::WhileOp> {};

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
    return returnedFor(op, owner);
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
