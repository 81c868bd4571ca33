//===- Control.cpp - optimisation barrier ---------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

namespace {
/// Result i is operand i.
struct BarrierModel
    : ShardableDataFlowOpInterface::ExternalModel<BarrierModel,
                                                  OptimizationBarrierOp> {
  SmallVector<Value> getEdgeOwners(Operation *op) const {
    return llvm::to_vector_of<Value>(op->getResults());
  }
  SmallVector<OpOperand *> getEdgeSources(Operation *op, Value owner) const {
    return {&op->getOpOperand(cast<OpResult>(owner).getResultNumber())};
  }
};
} // namespace

void shardonnay::attachControlModels(MLIRContext &context) {
  OptimizationBarrierOp::attachInterface<BarrierModel>(context);
  attachClone<OptimizationBarrierOp>(context);
}
