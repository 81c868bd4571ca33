//===- Control.cpp - loops, branches, barriers, the replica ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/CountedLoop.h"
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
  bool resultsOwnClasses(Operation *) const { return true; }
  SmallVector<OpOperand *> getEdgeSources(Operation *op, Value owner) const {
    return {&op->getOpOperand(cast<OpResult>(owner).getResultNumber())};
  }
};

struct WhileModel : WhileEdges<WhileModel, WhileOp> {
  bool resultsOwnClasses(Operation *) const { return true; }
  std::optional<int64_t> getTripCount(Operation *op,
                                      ConstantReader constantOf) const {
    return countTrips(cast<WhileOp>(op), constantOf);
  }
};

/// Result i and what each region returns for it.
template <typename OpT>
struct BranchModel
    : ShardableDataFlowOpInterface::ExternalModel<BranchModel<OpT>, OpT> {
  SmallVector<Value> getEdgeOwners(Operation *op) const {
    return llvm::to_vector_of<Value>(op->getResults());
  }
  bool resultsOwnClasses(Operation *) const { return true; }
  SmallVector<OpOperand *> getEdgeSources(Operation *op, Value owner) const {
    return returnedFor(op, owner);
  }
  SmallVector<Value> getEdgeTargets(Operation *, Value owner) const {
    return {owner};
  }
};
} // namespace

/// All devices of a replica have its number.
static std::optional<FactorRule> replicaRule(ReplicaIdOp) {
  return FactorRuleBuilder({}, {0}).build();
}

void shardonnay::attachControlModels(MLIRContext &context) {
  WhileOp::attachInterface<WhileModel>(context);
  CaseOp::attachInterface<BranchModel<CaseOp>>(context);
  IfOp::attachInterface<BranchModel<IfOp>>(context);
  OptimizationBarrierOp::attachInterface<BarrierModel>(context);
  attachClone<OptimizationBarrierOp>(context);
  attachRule<ReplicaIdOp, replicaRule>(context);
  attachClone<ReplicaIdOp>(context);
}
