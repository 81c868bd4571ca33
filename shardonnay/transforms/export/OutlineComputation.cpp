//===- OutlineComputation.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/export/OutlineComputation.h"

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"

using namespace mlir;

namespace shardonnay {

func::FuncOp outlineBody(sdy::NamedComputationOp op, SymbolTable &symbols) {
  auto type = FunctionType::get(op.getContext(), op.getOperandTypes(),
                                op.getResultTypes());
  auto func = func::FuncOp::create(op.getLoc(), op.getName(), type);
  func.setPrivate();
  symbols.insert(func);
  func.getBody().takeBody(op.getBody());
  Operation *end = func.getBody().front().getTerminator();
  OpBuilder builder(end);
  func::ReturnOp::create(builder, end->getLoc(), end->getOperands());
  end->erase();
  sdy::SignatureAttributes signature(func);
  if (auto shardings = op.getInShardingsAttr())
    for (auto [argument, sharding] :
         llvm::zip_equal(func.getArguments(), shardings.getShardings()))
      if (isa<RankedTensorType>(argument.getType()))
        signature.setArgument(argument.getArgNumber(), sdy::kShardingAttr,
                              sharding);
  return func;
}

void replaceByCall(sdy::NamedComputationOp op, func::FuncOp func) {
  OpBuilder builder(op);
  auto call =
      func::CallOp::create(builder, op.getLoc(), func, op.getOperands());
  call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (sdy::TensorShardingPerValueAttr shardings = op.getOutShardingsAttr())
    call->setAttr(sdy::kShardingAttr, shardings);
  op.replaceAllUsesWith(call);
  op.erase();
}

} // namespace shardonnay
