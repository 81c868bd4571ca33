//===- WholeBoundary.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Each argument that is sharded is given whole; its uses see a reshard of
//    it.
// 2. Each result that is sharded is returned whole, from a reshard.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_WHOLEBOUNDARYPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {

/// Null: the value is whole already, or partial, which has no whole form on one
/// device.
sdy::TensorShardingAttr getSharded(sdy::TensorShardingAttr sharding) {
  if (!sharding || sharding.isReplicated() ||
      !sharding.getUnreducedAxes().empty())
    return nullptr;
  return sharding;
}

void makeArgumentWhole(BlockArgument argument,
                       sdy::SignatureAttributes &signature) {
  sdy::TensorShardingAttr sharded = getSharded(sdy::getSharding(argument));
  if (!sharded)
    return;
  signature.setArgument(argument.getArgNumber(), sdy::kShardingAttr, nullptr);
  if (argument.use_empty())
    return;
  auto builder = OpBuilder::atBlockBegin(argument.getOwner());
  auto reshard =
      sdy::ReshardOp::create(builder, argument.getLoc(), argument, sharded);
  argument.replaceAllUsesExcept(reshard.getResult(), reshard);
}

void makeResultWhole(func::FuncOp func, unsigned result,
                     sdy::SignatureAttributes &signature) {
  sdy::TensorShardingAttr sharded =
      getSharded(sdy::getFuncResultSharding(func, result));
  if (!sharded)
    return;
  signature.setResult(result, sdy::kShardingAttr, nullptr);
  Operation *end = func.getBody().back().getTerminator();
  OpBuilder builder(end);
  OpOperand &operand = end->getOpOperand(result);
  // First as it was asked for: the program inside does not change.
  Value inside = sdy::ReshardOp::create(builder, operand.get().getLoc(),
                                        operand.get(), sharded);
  auto rank = cast<RankedTensorType>(operand.get().getType()).getRank();
  operand.set(sdy::ReshardOp::create(
      builder, operand.get().getLoc(), inside,
      sdy::TensorShardingAttr::getFullyClosed(func.getContext(), rank,
                                              sharded.getMeshOrRef())));
}

struct WholeBoundaryPass : impl::WholeBoundaryPassBase<WholeBoundaryPass> {
  using WholeBoundaryPassBase::WholeBoundaryPassBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!func.isPublic() || func.isExternal())
      return;
    sdy::SignatureAttributes signature(func);
    if (arguments)
      for (BlockArgument argument : func.getArguments())
        makeArgumentWhole(argument, signature);
    if (results)
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        makeResultWhole(func, i, signature);
  }
};

} // namespace

} // namespace shardonnay
