//===- PerInstructionPartitioning.cpp -------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each selected operation:
//   1. isEligible: some value of it is sharded, and none is partial.
//   2. makeProgram: a module of a function with that operation alone.
//   3. All stages from reshard on.
//   4. embed: the function's body as a manual computation in the op's place. It
//      divides all dims, so those that their axes don't divide are padded
//      before it and sliced behind it.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/emit/Passes.h"
#include "shardonnay/interfaces/ConstantExpression.h"
#include "shardonnay/pipeline/Passes.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "shardonnay/transforms/reshard/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_PERINSTRUCTIONPARTITIONINGPASS
#include "shardonnay/pipeline/Passes.h.inc"

namespace {

/// One entry of the filter: a name, with its dialect or without, or numbers of
/// operations.
struct Selection {
  StringRef name;
  uint64_t first = 0, last = 0;

  static FailureOr<Selection> parse(StringRef text) {
    Selection selection;
    if (!llvm::isDigit(text.front())) {
      selection.name = text;
      return selection;
    }
    auto [first, last] = text.split('-');
    if (first.getAsInteger(10, selection.first) ||
        (last.empty() ? first : last).getAsInteger(10, selection.last) ||
        selection.last < selection.first)
      return failure();
    return selection;
  }
  bool selects(OperationName op, uint64_t number) const {
    return name.empty()
               ? first <= number && number <= last
               : name == op.getStringRef() || name == op.stripDialect();
  }
};

/// The type of which each device has an equal local shard: `type`, or a larger
/// one.
RankedTensorType getDivisible(RankedTensorType type,
                              const TensorSharding &sharding) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, dim] : llvm::zip_equal(shape, sharding.dims))
    size = llvm::alignTo(size, dim.axes.numShards());
  return type.clone(shape);
}

struct PerInstructionPartitioning
    : impl::PerInstructionPartitioningPassBase<PerInstructionPartitioning> {
  using PerInstructionPartitioningPassBase::PerInstructionPartitioningPassBase;

  void runOnOperation() override {
    mesh = sdy::getMostUsedMesh(getOperation());
    if (!mesh)
      return;
    if (failed(parseFilter()))
      return signalPassFailure();
    SmallVector<Operation *> selected;
    uint64_t number = 0;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<sdy::ManualComputationOp>(op))
        return WalkResult::skip();
      if (!isComputation(op))
        return WalkResult::advance();
      if (isEligible(op) && isSelected(op, number++))
        selected.push_back(op);
      return WalkResult::skip();
    });
    for (Operation *op : selected)
      if (failed(partition(op)))
        return signalPassFailure();
  }

private:
  LogicalResult parseFilter();
  bool isSelected(Operation *op, uint64_t number) {
    return selections.empty() ||
           llvm::any_of(selections, [&](const Selection &selection) {
             return selection.selects(op->getName(), number);
           });
  }
  static bool isComputation(Operation *op) {
    return sdy::getComputationRule(op) ||
           op->hasTrait<OpTrait::ConstantLike>() ||
           isa<sdy::ReshardOp, sdy::CollectiveOpInterface>(op) ||
           (isa<ConstantExpressionOpInterface>(op) &&
            op->getNumOperands() == 0);
  }
  bool isEligible(Operation *op) {
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
      if (!form.unreduced.empty() ||
          (shardonnay::getDivisible(type, form) != type &&
           !Builder(op).getZeroAttr(type.getElementType())))
        return false;
      isSharded = true;
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
  RankedTensorType getDivisible(Value value) {
    return shardonnay::getDivisible(
        cast<RankedTensorType>(value.getType()),
        sdy::toSharding(shardingOf(value), mesh.getMesh()));
  }
  Value pad(OpBuilder &builder, Value value);
  Value trim(OpBuilder &builder, OpResult result, Value padded);

  sdy::MeshOp mesh;
  SmallVector<Selection> selections;
};

LogicalResult PerInstructionPartitioning::parseFilter() {
  SmallVector<StringRef> entries;
  StringRef(filter.getValue())
      .split(entries, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    FailureOr<Selection> selection = Selection::parse(entry);
    if (failed(selection))
      return getOperation().emitError()
             << "filter: expected names of operations, or numbers such as 3 or "
                "2-5, got '"
             << entry << "'";
    selections.push_back(*selection);
  }
  return success();
}

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
  auto operands = llvm::map_to_vector(
      op->getOperands(), [&](Value operand) { return pad(builder, operand); });
  auto types = llvm::map_to_vector(op->getResults(), [&](Value result) {
    return Type(getDivisible(result));
  });
  auto manual = sdy::ManualComputationOp::create(
      builder, op->getLoc(), types, operands, perValue(op->getOperands()),
      perValue(op->getResults()),
      sdy::ManualAxesAttr::get(&getContext(), axes));
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

Value PerInstructionPartitioning::pad(OpBuilder &builder, Value value) {
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
  return padded;
}

Value PerInstructionPartitioning::trim(OpBuilder &builder, OpResult result,
                                       Value padded) {
  auto type = cast<RankedTensorType>(result.getType());
  if (padded.getType() == type)
    return padded;
  SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1);
  auto slice = stablehlo::SliceOp::create(
      builder, result.getLoc(), type, padded, starts, type.getShape(), strides);
  sdy::setSharding(slice, shardingOf(result));
  return slice;
}

} // namespace

} // namespace shardonnay
