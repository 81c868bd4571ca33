//===- ExportShard.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. What a grid and its annotations can't say is found, before anything
//    changes (`check`).
// 2. In each function, shardings of arguments and op results become annotations
//    of these values, ops of `sdy` that state a sharding, and shardings of
//    results of the function, annotations for users.
// 3. Meshes become grids.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/frontend/ShardGrids.h"
#include "shardonnay/interfaces/ProgramOps.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_EXPORTSHARDPASS
#include "shardonnay/frontend/Passes.h.inc"

namespace {

/// The op is the same tensor in the sharding that it states.
bool statesSharding(Operation *op) {
  return isa<sdy::ShardingConstraintOp, sdy::ReshardOp,
             sdy::CollectiveOpInterface>(op);
}

LogicalResult checkSharding(Operation *op, sdy::TensorShardingAttr sharding) {
  if (sharding.getUnreducedAxes().empty())
    return success();
  return op->emitError() << "has the partial values of " << sharding
                         << ", which 'shard.sharding' can't say; expected "
                            "none: reduce them before";
}

LogicalResult check(Operation *op) {
  StringRef advice;
  if (isa<sdy::DataFlowEdgeOp, sdy::FuncDataFlowEdgeOp>(op))
    advice = "run sdy-sink-data-flow-edges first";
  else if (isa<sdy::ShardingGroupOp>(op))
    advice = "run sdy-remove-sharding-groups first";
  else if (isa<sdy::PropagationBarrierOp>(op))
    advice = "run sdy-remove-propagation-barriers first";
  else if (isa<spmd::SpmdDialect>(op->getDialect()))
    advice = "it is a program of local shards: run sdy-export-local-shard";
  else if (isa<sdy::ManualComputationOp, sdy::NamedComputationOp>(op))
    advice = "expected ops on global values only";
  if (!advice.empty())
    return op->emitError() << "'" << op->getName()
                           << "' has no form in MLIR's 'shard' dialect; "
                           << advice;
  for (StringRef name : {StringRef(sdy::kShardingRuleAttr),
                         StringRef(sdy::kBlockArgumentShardingsAttr)})
    if (op->hasAttr(name))
      return op->emitError()
             << "has the attribute '" << name
             << "', which MLIR's 'shard' dialect does not know; "
                "expected an op that needs none";
  LogicalResult result = success();
  AttrTypeWalker walker;
  walker.addWalk([&](sdy::TensorShardingAttr sharding) {
    result = checkSharding(op, sharding);
    return failed(result) ? WalkResult::interrupt() : WalkResult::skip();
  });
  walker.walk(op->getAttrDictionary());
  return result;
}

class FunctionExporter {
public:
  FunctionExporter(func::FuncOp func, const ShardGrids &grids)
      : func(func), grids(grids), builder(func.getContext()) {}

  void run();

private:
  /// The op that states `sharding` of a value of `type`, at the beginning of
  /// the function: one for all that are alike.
  Value state(sdy::TensorShardingAttr sharding, RankedTensorType type);
  /// `value`, annotated, at the insertion point.
  Value annotate(Value value, sdy::TensorShardingAttr sharding, bool forUsers);
  void annotateResults(Operation *op);
  void replaceStatement(Operation *op);
  void annotateReturn(func::ReturnOp op);

  func::FuncOp func;
  const ShardGrids &grids;
  OpBuilder builder;
  /// By name of the grid, axes and offsets as the op has them.
  std::map<std::tuple<StringRef, std::vector<std::vector<int16_t>>,
                      std::vector<int64_t>>,
           Value>
      stated;
  Operation *lastStated = nullptr;
};

Value FunctionExporter::state(sdy::TensorShardingAttr sharding,
                              RankedTensorType type) {
  StringRef grid = sharding.getMeshSymbol().getValue();
  std::vector<std::vector<int16_t>> split;
  std::vector<int64_t> offsets;
  bool isEven = true, isSized = true;
  for (auto [dim, axes] : llvm::enumerate(sharding.getDimShardings())) {
    SmallVector<int16_t> gridAxes = grids.axesOf(grid, axes.getAxes());
    split.emplace_back(gridAxes.begin(), gridAxes.end());
    if (gridAxes.empty())
      continue;
    int64_t shards = grids.numShards(grid, gridAxes),
            size = type.getDimSize(dim);
    isSized &= !ShapedType::isDynamic(shards);
    isEven &= isSized && size % shards == 0;
    if (isSized)
      llvm::append_range(offsets, evenOffsets(size, shards));
  }
  while (split.size() > 1 && split.back().empty())
    split.pop_back();
  if (split.empty())
    split.emplace_back();
  if (isEven || !isSized)
    offsets.clear();
  Value &known = stated[{grid, split, offsets}];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  if (lastStated)
    builder.setInsertionPointAfter(lastStated);
  else
    builder.setInsertionPointToStart(&func.front());
  auto axesPerDim = llvm::map_to_vector(split, [&](ArrayRef<int16_t> axes) {
    return shard::GridAxesAttr::get(builder.getContext(), axes);
  });
  lastStated = shard::ShardingOp::create(
      builder, func.getLoc(), shard::ShardingType::get(builder.getContext()),
      FlatSymbolRefAttr::get(builder.getContext(), grid),
      shard::GridAxesArrayAttr::get(builder.getContext(), axesPerDim),
      builder.getDenseI64ArrayAttr(offsets), ValueRange(),
      builder.getDenseI64ArrayAttr({}), ValueRange());
  return known = lastStated->getResult(0);
}

Value FunctionExporter::annotate(Value value, sdy::TensorShardingAttr sharding,
                                 bool forUsers) {
  Value stated = state(sharding, cast<RankedTensorType>(value.getType()));
  return shard::ShardOp::create(builder, value.getLoc(), value.getType(), value,
                                stated, forUsers);
}

/// A value without axes that a scalar op has, or one that is no tensor, has no
/// annotation.
bool mayAnnotate(Value value, sdy::TensorShardingAttr sharding) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 && sharding;
}

void FunctionExporter::annotateResults(Operation *op) {
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    sdy::TensorShardingAttr sharding = sdy::getSharding(result);
    if (!mayAnnotate(result, sharding))
      continue;
    Value annotated = annotate(result, sharding, /*forUsers=*/false);
    result.replaceAllUsesExcept(annotated, annotated.getDefiningOp());
  }
}

void FunctionExporter::replaceStatement(Operation *op) {
  builder.setInsertionPoint(op);
  Value source = op->getOperand(0);
  if (mayAnnotate(source, sdy::getSharding(op->getResult(0))))
    source = annotate(source, sdy::getSharding(op->getResult(0)),
                      /*forUsers=*/true);
  op->getResult(0).replaceAllUsesWith(source);
  op->erase();
}

void FunctionExporter::annotateReturn(func::ReturnOp op) {
  builder.setInsertionPoint(op);
  for (OpOperand &operand : op->getOpOperands()) {
    sdy::TensorShardingAttr sharding =
        sdy::getFuncResultSharding(func, operand.getOperandNumber());
    if (mayAnnotate(operand.get(), sharding))
      operand.set(annotate(operand.get(), sharding, /*forUsers=*/true));
  }
}

void FunctionExporter::run() {
  if (func.isExternal())
    return;
  SmallVector<Operation *> ops;
  func->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != func)
      ops.push_back(op);
  });
  builder.setInsertionPointToStart(&func.front());
  for (BlockArgument argument : func.getArguments()) {
    sdy::TensorShardingAttr sharding = sdy::getSharding(argument);
    if (!mayAnnotate(argument, sharding))
      continue;
    state(sharding, cast<RankedTensorType>(argument.getType()));
    // Behind those of the arguments before, and all that was stated.
    Value annotated = annotate(argument, sharding, /*forUsers=*/false);
    argument.replaceAllUsesExcept(annotated, annotated.getDefiningOp());
    builder.setInsertionPointAfter(annotated.getDefiningOp());
  }
  for (Operation *op : ops) {
    if (auto constant = dyn_cast<sdy::ConstantOp>(op)) {
      builder.setInsertionPoint(op);
      auto plain = arith::ConstantOp::create(
          builder, op->getLoc(), cast<TypedAttr>(constant.getValue()));
      if (Attribute sharding = op->getAttr(sdy::kShardingAttr))
        plain->setAttr(sdy::kShardingAttr, sharding);
      op->replaceAllUsesWith(plain);
      op->erase();
      annotateResults(plain);
    } else if (statesSharding(op)) {
      replaceStatement(op);
    } else if (auto end = dyn_cast<func::ReturnOp>(op)) {
      annotateReturn(end);
    } else {
      annotateResults(op);
    }
  }
}

struct ExportShardPass : impl::ExportShardPassBase<ExportShardPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    WalkResult walked = module->walk([](Operation *op) {
      return failed(check(op)) ? WalkResult::interrupt()
                               : WalkResult::advance();
    });
    ShardGrids grids;
    if (walked.wasInterrupted() || failed(grids.read(module)))
      return signalPassFailure();
    for (auto func : module.getOps<func::FuncOp>())
      FunctionExporter(func, grids).run();
    // Shardings, and what else ours says of ops.
    sdy::eraseAttributesIf(module, [](NamedAttribute attribute) {
      return attribute.getName().getValue().starts_with("sdy.");
    });
    grids.replaceMeshes(module);
  }
};

} // namespace

} // namespace shardonnay
