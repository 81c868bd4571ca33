//===- PerInstructionPartitioning.cpp -------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each selected operation:
//   1. isEligible: a manual computation can state its boundary.
//   2. makeProgram: a module of a function with that operation alone.
//   3. All stages from reshard on.
//   4. embed: the function's body as a manual computation in the op's place.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/RuleAccess.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/emit/Passes.h"
#include "shardonnay/pipeline/Passes.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "shardonnay/transforms/reshard/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_PERINSTRUCTIONPARTITIONINGPASS
#include "shardonnay/pipeline/Passes.h.inc"

namespace {

/// The pieces of `type` are all of one size, and whole values.
bool isEven(Type type, sdy::TensorShardingAttr sharding, sdy::MeshOp mesh) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return false;
  if (!sharding || sharding.isReplicated())
    return true;
  if (sharding.getMeshSymbol() != FlatSymbolRefAttr::get(mesh.getSymNameAttr()))
    return false;
  TensorSharding cut = sdy::toSharding(sharding, mesh.getMesh());
  return cut.unreduced.empty() &&
         llvm::all_of(llvm::zip_equal(tensor.getShape(), cut.dims),
                      [](auto pair) {
                        auto [size, dim] = pair;
                        return size % dim.axes.numShards() == 0;
                      });
}

struct PerInstructionPartitioning
    : impl::PerInstructionPartitioningPassBase<PerInstructionPartitioning> {
  using PerInstructionPartitioningPassBase::PerInstructionPartitioningPassBase;

  void runOnOperation() override {
    mesh = sdy::getMostUsedMesh(getOperation());
    if (!mesh)
      return;
    SmallVector<Operation *> selected;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<sdy::ManualComputationOp>(op))
        return WalkResult::skip();
      if (!sdy::getComputationRule(op))
        return WalkResult::advance();
      if (isSelected(op) && isEligible(op))
        selected.push_back(op);
      return WalkResult::skip();
    });
    for (Operation *op : selected)
      if (failed(partition(op)))
        return signalPassFailure();
  }

private:
  bool isSelected(Operation *op) {
    SmallVector<StringRef> names;
    StringRef(filter.getValue())
        .split(names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    return names.empty() ||
           llvm::is_contained(names, op->getName().getStringRef());
  }
  bool isEligible(Operation *op) {
    bool isSharded = false;
    for (Value value : valuesOf(op)) {
      sdy::TensorShardingAttr sharding = sdy::getSharding(value);
      if (!isEven(value.getType(), sharding, mesh))
        return false;
      isSharded |= sharding && !sharding.isReplicated();
    }
    return isSharded;
  }
  static SmallVector<Value> valuesOf(Operation *op) {
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    return values;
  }
  /// How `value` is sharded, in so many words.
  sdy::TensorShardingAttr shardingOf(Value value) {
    if (sdy::TensorShardingAttr sharding = sdy::getSharding(value))
      if (!sharding.isReplicated())
        return sharding;
    return sdy::TensorShardingAttr::getFullyClosed(
        &getContext(), cast<RankedTensorType>(value.getType()).getRank(),
        FlatSymbolRefAttr::get(mesh.getSymNameAttr()));
  }

  LogicalResult partition(Operation *op);
  OwningOpRef<ModuleOp> makeProgram(Operation *op);
  void embed(Operation *op, func::FuncOp local);

  sdy::MeshOp mesh;
};

LogicalResult PerInstructionPartitioning::partition(Operation *op) {
  OwningOpRef<ModuleOp> program = makeProgram(op);
  PassManager pm(&getContext(), ModuleOp::getOperationName());
  addStage(pm, Stage::Reshard, {});
  ResolvePermutationFactorsPassOptions windows;
  windows.enableHaloExchange = enableHaloExchange;
  pm.addPass(createResolvePermutationFactorsPass(windows));
  addStage(pm, Stage::Collectives, {});
  addStage(pm, Stage::Partition, {});
  EmitStablehloPassOptions emit;
  emit.replicaCount = replicaCount;
  emit.partitionCount = partitionCount;
  pm.addPass(createEmitStablehloPass(emit));
  if (failed(pm.run(*program)))
    return failure();
  embed(op, *program->getOps<func::FuncOp>().begin());
  return success();
}

OwningOpRef<ModuleOp> PerInstructionPartitioning::makeProgram(Operation *op) {
  Location loc = op->getLoc();
  OwningOpRef<ModuleOp> program = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockBegin(program->getBody());
  builder.clone(*mesh);
  auto func = func::FuncOp::create(
      builder, loc, "alone",
      builder.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
  Block *body = func.addEntryBlock();
  for (auto [argument, operand] :
       llvm::zip_equal(func.getArguments(), op->getOperands()))
    sdy::setSharding(argument, shardingOf(operand));
  for (OpResult result : op->getResults())
    sdy::setFuncResultSharding(func, result.getResultNumber(),
                               shardingOf(result));
  builder.setInsertionPointToEnd(body);
  Operation *alone = builder.clone(*op);
  alone->setOperands(func.getArguments());
  func::ReturnOp::create(builder, loc, alone->getResults());
  return program;
}

void PerInstructionPartitioning::embed(Operation *op, func::FuncOp local) {
  auto perValue = [&](ValueRange values) {
    return sdy::TensorShardingPerValueAttr::get(
        &getContext(), llvm::map_to_vector(values, [&](Value value) {
          return shardingOf(value);
        }));
  };
  auto axes = llvm::map_to_vector(
      mesh.getMesh().getAxes(), [&](sdy::MeshAxisAttr axis) {
        return StringAttr::get(&getContext(), axis.getName());
      });
  OpBuilder builder(op);
  auto manual = sdy::ManualComputationOp::create(
      builder, op->getLoc(), op->getResultTypes(), op->getOperands(),
      perValue(op->getOperands()), perValue(op->getResults()),
      sdy::ManualAxesAttr::get(&getContext(), axes));
  manual.getBody().takeBody(local.getBody());
  Operation *end = manual.getBody().front().getTerminator();
  builder.setInsertionPoint(end);
  sdy::ReturnOp::create(builder, end->getLoc(), end->getOperands());
  end->erase();
  op->replaceAllUsesWith(manual.getResults());
  op->erase();
}

} // namespace

} // namespace shardonnay
