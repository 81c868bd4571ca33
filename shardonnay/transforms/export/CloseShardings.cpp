//===- CloseShardings.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Close each dim of each sharding; drop priorities and replicated axes.
// 2. Drop the records of what was given at the boundary.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_CLOSESHARDINGSPASS
#include "shardonnay/transforms/export/Passes.h.inc"

static sdy::TensorShardingAttr close(sdy::TensorShardingAttr sharding) {
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    dims.push_back(sdy::DimensionShardingAttr::get(
        dim.getContext(), dim.getAxes(), /*is_closed=*/true,
        /*priority=*/std::nullopt));
  return sdy::TensorShardingAttr::get(
      sharding.getContext(), sharding.getMeshOrRef(), dims,
      /*replicated_axes=*/{}, sharding.getUnreducedAxes(),
      sharding.getReductionKind());
}

static void closeResults(Operation *op) {
  for (Value result : op->getResults())
    if (sdy::TensorShardingAttr sharding = sdy::getSharding(result))
      sdy::setSharding(result, close(sharding));
}

static void closeBoundary(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    if (sdy::TensorShardingAttr sharding = sdy::getSharding(argument))
      sdy::setSharding(argument, close(sharding));
    func.removeArgAttr(argument.getArgNumber(), sdy::kGivenShardingAttr);
  }
  for (unsigned result = 0; result < func.getNumResults(); ++result) {
    if (auto sharding = sdy::getFuncResultSharding(func, result))
      sdy::setFuncResultSharding(func, result, close(sharding));
    func.removeResultAttr(
        result, StringAttr::get(func.getContext(), sdy::kGivenShardingAttr));
  }
}

namespace {
struct CloseShardingsPass : impl::CloseShardingsPassBase<CloseShardingsPass> {
protected:
  void runOnOperation() override {
    getOperation().walk(closeResults);
    for (auto func : getOperation().getOps<func::FuncOp>())
      closeBoundary(func);
  }
};
} // namespace

} // namespace shardonnay
