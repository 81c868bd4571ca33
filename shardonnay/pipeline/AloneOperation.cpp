//===- AloneOperation.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   1. makeProgram: a module of a function with that operation alone.
//   2. All stages from reshard on.
//   3. embed: the function's body as a manual computation in the op's place.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/AloneOperation.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/emit/Passes.h"
#include "shardonnay/interfaces/ConstantExpression.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "shardonnay/transforms/reshard/Passes.h"

using namespace mlir;

namespace shardonnay {

/// The type of which each device has an equal local shard: `type`, or a larger
/// one.
static RankedTensorType getDivisible(RankedTensorType type,
                                     const TensorSharding &sharding) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, dim] : llvm::zip_equal(shape, sharding.dims))
    size = llvm::alignTo(size, dim.axes.numShards());
  return type.clone(shape);
}

static SmallVector<Value> valuesOf(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  return values;
}

bool OperationPartitioner::isComputation(Operation *op) {
  return sdy::getComputationRule(op) || op->hasTrait<OpTrait::ConstantLike>() ||
         isa<sdy::ReshardOp, sdy::CollectiveOpInterface>(op) ||
         (isa<ConstantExpressionOpInterface>(op) && op->getNumOperands() == 0);
}

bool OperationPartitioner::isEligible(Operation *op) {
  bool isSharded = false;
  for (Value value : valuesOf(op)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape())
      return false;
    sdy::TensorShardingAttr sharding = sdy::getSharding(value);
    if (!sharding || sharding.isReplicated())
      continue;
    if (sharding.getMeshSymbol() !=
        FlatSymbolRefAttr::get(mesh.getSymNameAttr()))
      return false;
    TensorSharding form = sdy::toSharding(sharding, mesh.getMesh());
    if ((!form.unreduced.empty() && !options.allowsPartial) ||
        (shardonnay::getDivisible(type, form) != type &&
         !Builder(op).getZeroAttr(type.getElementType())))
      return false;
    isSharded = true;
  }
  return isSharded;
}

/// How `value` is sharded, in so many words.
sdy::TensorShardingAttr OperationPartitioner::shardingOf(Value value) {
  if (sdy::TensorShardingAttr sharding = sdy::getSharding(value))
    if (!sharding.isReplicated())
      return sharding;
  return sdy::TensorShardingAttr::getFullyClosed(
      mesh.getContext(), cast<RankedTensorType>(value.getType()).getRank(),
      FlatSymbolRefAttr::get(mesh.getSymNameAttr()));
}

RankedTensorType OperationPartitioner::getDivisible(Value value) {
  return shardonnay::getDivisible(
      cast<RankedTensorType>(value.getType()),
      sdy::toSharding(shardingOf(value), mesh.getMesh()));
}

bool OperationPartitioner::isUneven(Type type,
                                    sdy::TensorShardingAttr sharding) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && sharding &&
         !sharding.isReplicated() &&
         sharding.getMeshSymbol() ==
             FlatSymbolRefAttr::get(mesh.getSymNameAttr()) &&
         shardonnay::getDivisible(
             tensor, sdy::toSharding(sharding, mesh.getMesh())) != tensor;
}

bool OperationPartitioner::isUneven(Operation *op) {
  return llvm::any_of(valuesOf(op), [&](Value value) {
    return isUneven(value.getType(), sdy::getSharding(value));
  });
}

static void addPasses(OpPassManager &pm,
                      const OperationPartitioner::Options &options) {
  addStage(pm, Stage::Reshard, {});
  ResolvePermutationFactorsPassOptions windows;
  windows.enableHaloExchange = options.enableHaloExchange;
  pm.addPass(createResolvePermutationFactorsPass(windows));
  addStage(pm, Stage::Collectives, {});
  addStage(pm, Stage::Partition, {});
  EmitStablehloPassOptions emit;
  emit.replicaCount = options.replicaCount;
  emit.partitionCount = options.partitionCount;
  pm.addPass(createEmitStablehloPass(emit));
}

void OperationPartitioner::getDependentDialects(DialectRegistry &registry) {
  OpPassManager pm(ModuleOp::getOperationName());
  addPasses(pm, {});
  pm.getDependentDialects(registry);
}

LogicalResult OperationPartitioner::partition(Operation *op) {
  OwningOpRef<ModuleOp> program = makeProgram(op);
  PassManager pm(mesh.getContext(), ModuleOp::getOperationName());
  addPasses(pm, options);
  if (failed(pm.run(*program)))
    return failure();
  embed(op, *program->getOps<func::FuncOp>().begin());
  return success();
}

OwningOpRef<ModuleOp> OperationPartitioner::makeProgram(Operation *op) {
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

void OperationPartitioner::embed(Operation *op, func::FuncOp local) {
  auto perValue = [&](ValueRange values) {
    return sdy::TensorShardingPerValueAttr::get(
        mesh.getContext(), llvm::map_to_vector(values, [&](Value value) {
          return shardingOf(value);
        }));
  };
  auto axes = llvm::map_to_vector(
      mesh.getMesh().getAxes(), [&](sdy::MeshAxisAttr axis) {
        return StringAttr::get(mesh.getContext(), axis.getName());
      });
  OpBuilder builder(op);
  auto operands = llvm::map_to_vector(
      op->getOperands(), [&](Value operand) { return pad(builder, operand); });
  auto types = llvm::map_to_vector(op->getResults(), [&](Value result) {
    return Type(getDivisible(result));
  });
  auto manual = sdy::ManualComputationOp::create(
      builder, op->getLoc(), types, operands, perValue(op->getOperands()),
      perValue(op->getResults()),
      sdy::ManualAxesAttr::get(mesh.getContext(), axes));
  manual.getBody().takeBody(local.getBody());
  Operation *end = manual.getBody().front().getTerminator();
  builder.setInsertionPoint(end);
  sdy::ReturnOp::create(builder, end->getLoc(), end->getOperands());
  end->erase();
  builder.setInsertionPointAfter(manual);
  for (auto [result, padded] :
       llvm::zip_equal(op->getResults(), manual.getResults()))
    result.replaceAllUsesWith(trim(builder, result, padded));
  op->erase();
}

Value OperationPartitioner::pad(OpBuilder &builder, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType divisible = getDivisible(value);
  if (divisible == type)
    return value;
  Location loc = value.getLoc();
  Type element = type.getElementType();
  auto zero = stablehlo::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(RankedTensorType::get({}, element),
                             builder.getZeroAttr(element)));
  SmallVector<int64_t> none(type.getRank(), 0), high;
  for (auto [to, from] : llvm::zip_equal(divisible.getShape(), type.getShape()))
    high.push_back(to - from);
  auto padded = stablehlo::PadOp::create(builder, loc, divisible, value, zero,
                                         none, high, none);
  sdy::setSharding(padded, shardingOf(value));
  pads.push_back(padded);
  return padded;
}

Value OperationPartitioner::trim(OpBuilder &builder, OpResult result,
                                 Value padded) {
  auto type = cast<RankedTensorType>(result.getType());
  if (padded.getType() == type)
    return padded;
  SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1);
  auto slice = stablehlo::SliceOp::create(
      builder, result.getLoc(), type, padded, starts, type.getShape(), strides);
  sdy::setSharding(slice, shardingOf(result));
  slices.push_back(slice);
  return slice;
}

void OperationPartitioner::widen(Operation *op) {
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(pad(builder, operand));
  Operation *wide = builder.clone(*op);
  wide->setOperands(operands);
  for (auto [result, padded] :
       llvm::zip_equal(op->getResults(), wide->getResults())) {
    padded.setType(getDivisible(result));
    result.replaceAllUsesWith(trim(builder, result, padded));
  }
  op->erase();
}

void OperationPartitioner::cancelPads() {
  for (stablehlo::PadOp pad : pads) {
    auto slice = pad.getOperand().getDefiningOp<stablehlo::SliceOp>();
    if (!slice || !llvm::is_contained(slices, slice) ||
        slice.getOperand().getType() != pad.getType() ||
        sdy::getSharding(slice) != sdy::getSharding(pad))
      continue;
    pad.replaceAllUsesWith(slice.getOperand());
    Operation *fill = pad.getPaddingValue().getDefiningOp();
    pad.erase();
    fill->erase();
  }
  for (stablehlo::SliceOp slice : slices)
    if (slice.use_empty())
      slice.erase();
  pads.clear();
  slices.clear();
}

} // namespace shardonnay
