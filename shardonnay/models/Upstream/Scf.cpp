//===- Scf.cpp - loops and branches ---------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops have RegionBranchOpInterface, which the defaults read; scf.forall has
// not, and what its body does with slices at computed offsets is a partition of
// its own, so it is computed whole (frontend/CapturesToOperands.cpp makes
// operands of the tensors that it reads). scf.parallel has no tensors.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/models/Upstream/Attach.h"
#include "shardonnay/models/Upstream/Families.h"
#include "shardonnay/models/Upstream/LocalArith.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

namespace {
template <typename OpT>
struct FlowModel
    : ShardableDataFlowOpInterface::ExternalModel<FlowModel<OpT>, OpT> {};

/// The outputs, and with them the results, are needed whole.
struct ForallHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    auto forall = cast<scf::ForallOp>(op);
    if (!llvm::all_of(forall.getOutputs(), isStatic))
      return std::nullopt;
    FactorRuleBuilder builder(ranksOf(op->getOperandTypes()),
                              ranksOf(op->getResultTypes()));
    size_t numBounds = op->getNumOperands() - op->getNumResults();
    for (auto [index, output] : llvm::enumerate(forall.getOutputs()))
      for (auto [dim, size] : llvm::enumerate(shapeOf(output))) {
        SmallVector<int64_t> operandDims(op->getNumOperands(), -1);
        SmallVector<int64_t> resultDims(op->getNumResults(), -1);
        operandDims[numBounds + index] = resultDims[index] = dim;
        builder.add(size, operandDims, resultDims, FactorKind::NeedReplication);
      }
    return builder.build();
  }
};
} // namespace

template <typename... OpTs> static void attachFlow(MLIRContext &context) {
  (OpTs::template attachInterface<FlowModel<OpTs>>(context), ...);
}

void shardonnay::upstream::attachScfModels(MLIRContext &context) {
  attachFlow<scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp,
             scf::ExecuteRegionOp>(context);
  attach<ForallHooks, scf::ForallOp>(context);
}
