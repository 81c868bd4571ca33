//===- InsertFuncCallReshards.cpp -----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_INSERTFUNCCALLRESHARDSPASS
#include "shardonnay/transforms/export/Passes.h.inc"

/// Both shard a tensor in the same way; what they leave open does not matter.
/// Null is whole.
static bool shardedAlike(sdy::TensorShardingAttr a, sdy::TensorShardingAttr b) {
  if (!a || !b)
    return (!a || a.isReplicated()) && (!b || b.isReplicated());
  auto axes = [](sdy::TensorShardingAttr sharding) {
    return llvm::map_to_vector(
        sharding.getDimShardings(),
        [](sdy::DimensionShardingAttr dim) { return dim.getAxes(); });
  };
  return a.getMeshOrRef() == b.getMeshOrRef() && axes(a) == axes(b) &&
         a.getUnreducedAxes() == b.getUnreducedAxes();
}

/// `sharding`, or, for none, whole on the mesh of `other`.
static sdy::TensorShardingAttr orWhole(sdy::TensorShardingAttr sharding,
                                       sdy::TensorShardingAttr other,
                                       Value value) {
  if (sharding)
    return sharding;
  return sdy::TensorShardingAttr::getFullyClosed(
      value.getContext(), cast<RankedTensorType>(value.getType()).getRank(),
      other.getMeshOrRef());
}

static void reshardResults(func::CallOp call, func::FuncOp callee) {
  OpBuilder builder(call.getContext());
  builder.setInsertionPointAfter(call);
  SmallVector<sdy::TensorShardingAttr> before =
      sdy::getShardings(call->getResults());
  for (auto [i, result] : llvm::enumerate(call->getResults())) {
    sdy::TensorShardingAttr made = sdy::getFuncResultSharding(callee, i);
    if (!isa<RankedTensorType>(result.getType()) || (!made && !before[i]))
      continue;
    sdy::setSharding(result, orWhole(made, before[i], result));
    if (result.use_empty() || shardedAlike(made, before[i]))
      continue;
    auto reshard = sdy::ReshardOp::create(builder, call.getLoc(), result,
                                          orWhole(before[i], made, result));
    result.replaceAllUsesExcept(reshard.getResult(), reshard);
  }
}

namespace {
struct InsertFuncCallReshardsPass
    : impl::InsertFuncCallReshardsPassBase<InsertFuncCallReshardsPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<func::CallOp>())
      return markAllAnalysesPreserved();
    SymbolTable symbols(getOperation());
    SmallVector<func::CallOp> calls;
    getOperation().walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        continue;
      reshardResults(call, callee);
    }
  }
};
} // namespace

} // namespace shardonnay
