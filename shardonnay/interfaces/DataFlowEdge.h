//===- DataFlowEdge.h - ops that only pass values on ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_DATAFLOWEDGE_H
#define SHARDONNAY_INTERFACES_DATAFLOWEDGE_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "shardonnay/algebra/ManualBoundary.h"
#include <optional>

namespace shardonnay {

/// The classes of an op with RegionBranchOpInterface; none of another op. Two
/// values are in one class if one flows into the other, or one value into both.
/// The owner is the first result of the class, or its first block argument.
llvm::SmallVector<mlir::Value> regionBranchOwners(mlir::Operation *op);
llvm::SmallVector<mlir::OpOperand *> regionBranchSources(mlir::Operation *op,
                                                         mlir::Value owner);
llvm::SmallVector<mlir::Value> regionBranchTargets(mlir::Operation *op,
                                                   mlir::Value owner);

/// The owner of the class that has `target`, a result or block argument; null
/// if it is in none.
mlir::Value getEdgeOwner(mlir::Value target);
/// The owner of the class that `source` flows into; null if there is none.
/// `source` is an operand of an op that passes values on, or of a terminator in
/// it.
mlir::Value getEdgeOwner(mlir::OpOperand &source);

/// The integer that a value is, if it is a constant of one element.
using ConstantReader = llvm::function_ref<std::optional<int64_t>(mlir::Value)>;
/// What LoopLikeOpInterface says; without it 1 of an op that is no loop.
std::optional<int64_t> defaultTripCount(mlir::Operation *op);

/// The op that makes `value`, or in whose regions it is an argument.
mlir::Operation *getOwnerOp(mlir::Value value);

/// What `op` returns at the end of a region may become an argument of one of
/// its regions again: what stands there may run more than once.
bool isLoop(mlir::Operation *op);

} // namespace shardonnay

#include "shardonnay/interfaces/DataFlowEdge.h.inc"

namespace shardonnay {

/// What each region of `op` returns for its result `owner`.
llvm::SmallVector<mlir::OpOperand *> returnedFor(mlir::Operation *op,
                                                 mlir::Value owner);

/// Of a loop with a region that says whether it goes on and one that is its
/// body: result i, argument i of both, operand i and what the body returns for
/// it.
template <typename ModelT, typename OpT>
struct WhileEdges : ShardableDataFlowOpInterface::ExternalModel<ModelT, OpT> {
  llvm::SmallVector<mlir::Value> getEdgeOwners(mlir::Operation *op) const {
    return llvm::to_vector_of<mlir::Value>(op->getResults());
  }
  llvm::SmallVector<mlir::OpOperand *> getEdgeSources(mlir::Operation *op,
                                                      mlir::Value owner) const {
    unsigned number = llvm::cast<mlir::OpResult>(owner).getResultNumber();
    mlir::Operation *next = op->getRegion(1).front().getTerminator();
    return {&op->getOpOperand(number), &next->getOpOperand(number)};
  }
  llvm::SmallVector<mlir::Value> getEdgeTargets(mlir::Operation *op,
                                                mlir::Value owner) const {
    unsigned number = llvm::cast<mlir::OpResult>(owner).getResultNumber();
    return {owner, op->getRegion(0).getArgument(number),
            op->getRegion(1).getArgument(number)};
  }
};

} // namespace shardonnay

#endif // SHARDONNAY_INTERFACES_DATAFLOWEDGE_H
