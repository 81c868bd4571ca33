//===- PadForDivisibility.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. checkBoundary: axes divide the arguments and results.
// 2. Each operation with a tensor that its axes don't divide is put on padded
//    tensors, between pads and slices: an element-wise one as it is, another
//    one as a manual computation.
// 3. Pads of what was sliced before go, with the slices.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/pipeline/AloneOperation.h"
#include "shardonnay/pipeline/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_PADFORDIVISIBILITYPASS
#include "shardonnay/pipeline/Passes.h.inc"

namespace {

/// `op` computes each element from the elements in the same place, and all its
/// tensors are sharded alike.
bool isElementwise(Operation *op) {
  auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruleOp || !ruleOp.isElementwise() || op->getNumOperands() == 0)
    return false;
  auto first = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  sdy::TensorShardingAttr sharding = sdy::getSharding(op->getOperand(0));
  auto isAlike = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getShape() == first.getShape() &&
           sdy::getSharding(value) == sharding;
  };
  return first && llvm::all_of(op->getOperands(), isAlike) &&
         llvm::all_of(op->getResults(), isAlike);
}

struct PadForDivisibilityPass
    : impl::PadForDivisibilityPassBase<PadForDivisibilityPass> {
  using PadForDivisibilityPassBase::PadForDivisibilityPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    PadForDivisibilityPassBase::getDependentDialects(registry);
    OperationPartitioner::getDependentDialects(registry);
  }

  void runOnOperation() override {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    sdy::MeshOp mesh = module ? sdy::getMostUsedMesh(module) : nullptr;
    if (!pad || !mesh || getOperation().isExternal())
      return markAllAnalysesPreserved();
    OperationPartitioner::Options options;
    options.allowsPartial = true;
    OperationPartitioner partitioner(mesh, options);
    if (failed(checkBoundary(partitioner)) || failed(padOps(partitioner)))
      return signalPassFailure();
    partitioner.cancelPads();
  }

private:
  LogicalResult checkBoundary(OperationPartitioner &partitioner);
  LogicalResult padOps(OperationPartitioner &partitioner);
};

LogicalResult
PadForDivisibilityPass::checkBoundary(OperationPartitioner &partitioner) {
  func::FuncOp func = getOperation();
  auto check = [&](StringRef what, unsigned number, Type type,
                   sdy::TensorShardingAttr sharding,
                   Location location) -> LogicalResult {
    if (!partitioner.isUneven(type, sharding))
      return success();
    return emitError(location)
           << what << " " << number << " has axes that do not divide it, "
           << sharding << " of " << type
           << "; expected them to: run "
              "sdy-update-non-divisible-input-output-shardings before";
  };
  for (BlockArgument argument : func.getArguments())
    if (failed(check("argument", argument.getArgNumber(), argument.getType(),
                     sdy::getSharding(argument), argument.getLoc())))
      return failure();
  for (auto [number, type] : llvm::enumerate(func.getResultTypes()))
    if (failed(check("result", number, type,
                     sdy::getFuncResultSharding(func, number), func.getLoc())))
      return failure();
  return success();
}

LogicalResult
PadForDivisibilityPass::padOps(OperationPartitioner &partitioner) {
  SmallVector<Operation *> uneven;
  getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (partitioner.isUneven(op))
      uneven.push_back(op);
    return isa<sdy::ManualComputationOp, ShardingRuleOpInterface>(op)
               ? WalkResult::skip()
               : WalkResult::advance();
  });
  for (Operation *op : uneven) {
    if (isElementwise(op)) {
      partitioner.widen(op);
      continue;
    }
    if (!OperationPartitioner::isComputation(op) || !partitioner.isEligible(op))
      return op->emitError()
             << "has a tensor that its axes do not divide and cannot be "
                "padded; expected an operation that can be partitioned alone: "
                "constrain the tensor to axes that divide it";
    if (failed(partitioner.partition(op)))
      return failure();
  }
  return success();
}

} // namespace

} // namespace shardonnay
