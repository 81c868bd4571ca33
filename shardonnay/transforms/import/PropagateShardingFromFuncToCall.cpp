//===- PropagateShardingFromFuncToCall.cpp --------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/CallOrder.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

namespace shardonnay {

#define GEN_PASS_DEF_PROPAGATESHARDINGFROMFUNCTOCALLPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {
struct PropagateShardingFromFuncToCallPass
    : impl::PropagateShardingFromFuncToCallPassBase<
          PropagateShardingFromFuncToCallPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<func::CallOp>())
      return markAllAnalysesPreserved();
    SymbolTable symbols(getOperation());
    getOperation().walk([&](func::CallOp call) {
      func::FuncOp callee = getCallee(call, symbols);
      if (!callee || call->hasAttr(kShardingAttr))
        return;
      for (OpResult result : call->getResults())
        if (TensorShardingAttr sharding =
                getFuncResultSharding(callee, result.getResultNumber()))
          setSharding(result, sharding);
    });
  }
};
} // namespace

} // namespace shardonnay
