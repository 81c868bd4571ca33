//===- Summary.cpp - memory and compute of a module -----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/explain/Report.h"
#include "shardonnay/interfaces/ShardingRule.h"

using namespace mlir;

namespace shardonnay {

int64_t byteSize(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  Type element = tensor.getElementType();
  int64_t parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    parts = 2;
  }
  if (!element.isIntOrFloat())
    return 0;
  return tensor.getNumElements() * parts *
         llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

namespace {

/// The value that holds the data: sdy ops on global types only rename it.
Value storage(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa_and_present<sdy::SdyDialect>(op->getDialect()) ||
        op->getNumOperands() != 1)
      break;
    value = op->getOperand(0);
  }
  return value;
}

int64_t peakBytes(Block &block) {
  DenseMap<Value, Operation *> lastUse;
  for (Operation &op : block)
    op.walk([&](Operation *user) {
      for (Value operand : user->getOperands())
        lastUse[storage(operand)] = &op;
    });
  int64_t live = 0;
  for (BlockArgument argument : block.getArguments())
    live += byteSize(argument.getType());
  int64_t peak = live;
  for (Operation &op : block) {
    for (Value result : op.getResults())
      if (storage(result) == result)
        live += byteSize(result.getType());
    peak = std::max(peak, live);
    // What dies here, each value once.
    llvm::SmallPtrSet<Value, 4> dead;
    for (Value operand : op.getOperands()) {
      Value held = storage(operand);
      if (!isa<BlockArgument>(held) && lastUse.lookup(held) == &op &&
          dead.insert(held).second)
        live -= byteSize(held.getType());
    }
    for (Value result : op.getResults())
      if (storage(result) == result && !lastUse.contains(result))
        live -= byteSize(result.getType());
  }
  return peak;
}

int64_t contractionFlops(Operation *root) {
  int64_t flops = 0;
  root->walk([&](ShardingRuleOpInterface op) {
    flops += op.getTransformFlops();
    if (!op.isContraction())
      return;
    if (std::optional<FactorRule> rule = op.getFactorRule()) {
      int64_t points = 2;
      for (const Factor &factor : rule->factors)
        points *= factor.size;
      flops += points;
    }
  });
  return flops;
}

bool hasAxes(sdy::TensorShardingAttr sharding) {
  return sharding && !sharding.isReplicated();
}

} // namespace

ProgramSummary summarize(ModuleOp module) {
  ProgramSummary summary;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    for (Type type : func.getArgumentTypes())
      summary.argumentBytes += byteSize(type);
    summary.peakBytes += peakBytes(func.getBody().front());
    summary.contractionFlops += contractionFlops(func);
  }
  return summary;
}

ShardingCounts countShardings(ModuleOp module) {
  ShardingCounts counts;
  auto count = [&](sdy::TensorShardingAttr sharding) {
    ++counts.tensors;
    counts.sharded += hasAxes(sharding);
  };
  module.walk([&](Operation *op) {
    if (auto func = dyn_cast<func::FuncOp>(op)) {
      if (func.isExternal())
        return;
      for (BlockArgument argument : func.getArguments())
        count(sdy::getSharding(argument));
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        count(sdy::getFuncResultSharding(func, i));
      return;
    }
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        count(sdy::getSharding(result));
  });
  return counts;
}

} // namespace shardonnay
