//===- AddFuncDataFlowEdges.cpp -------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/transforms/import/CallOrder.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_ADDFUNCDATAFLOWEDGESPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

void addEdge(Value value) {
  bool hasEdge =
      value.hasOneUse() && isa<FuncDataFlowEdgeOp>(*value.user_begin());
  if (hasEdge || !isa<RankedTensorType>(value.getType()))
    return;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto edge = FuncDataFlowEdgeOp::create(builder, value.getLoc(), value);
  value.replaceAllUsesExcept(edge, edge);
  if (TensorShardingAttr sharding = getSharding(value))
    setSharding(edge, sharding);
}

struct AddFuncDataFlowEdgesPass
    : impl::AddFuncDataFlowEdgesPassBase<AddFuncDataFlowEdgesPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::SetVector<Operation *> callees;
    getOperation().walk([&](func::CallOp call) {
      func::FuncOp callee = getCallee(call, symbols);
      if (!callee)
        return;
      callees.insert(callee);
      // Each comes right behind the call, so the last one goes first.
      for (Value result : llvm::reverse(call.getResults()))
        addEdge(result);
    });
    for (Operation *callee : callees)
      for (Value argument :
           llvm::reverse(cast<func::FuncOp>(callee).getArguments()))
        addEdge(argument);
  }
};

} // namespace
} // namespace shardonnay
