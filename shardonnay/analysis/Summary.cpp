//===- Summary.cpp - memory and compute of a module -----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/Summary.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/algebra/Counts.h"
#include "shardonnay/analysis/CallCounts.h"
#include "shardonnay/analysis/HostValues.h"
#include "shardonnay/analysis/PeakMemory.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
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
  int64_t bytes = parts * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  for (int64_t size : tensor.getShape())
    bytes = countProduct(bytes, size);
  return bytes;
}

int64_t countFlops(ShardingRuleOpInterface op) {
  int64_t flops = op.getTransformFlops();
  if (!op.isContraction())
    return flops;
  std::optional<FactorRule> rule = op.getFactorRule();
  if (!rule)
    return flops;
  int64_t points = 2;
  for (const Factor &factor : rule->factors)
    points = countProduct(points, factor.size);
  return countSum(flops, points);
}

namespace {

int64_t contractionFlops(Operation *root) {
  int64_t flops = 0;
  root->walk([&](ShardingRuleOpInterface op) {
    flops = countSum(flops, countFlops(op));
  });
  return flops;
}

bool hasAxes(sdy::TensorShardingAttr sharding) {
  return sharding && !sharding.isReplicated();
}

} // namespace

ProgramSummary summarize(ModuleOp module) {
  ProgramSummary summary;
  summary.peakBytes = findPeakMemory(module).bytes;
  CallCounts calls(module);
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    summary.contractionFlops += contractionFlops(func) * calls.of(func);
    if (!func.isPublic())
      continue;
    for (auto [number, type] : llvm::enumerate(func.getArgumentTypes()))
      if (!isHostArgument(func, number))
        summary.argumentBytes = countSum(summary.argumentBytes, byteSize(type));
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
