//===- PropagateToFuncResults.cpp -----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_PROPAGATETOFUNCRESULTSPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
struct PropagateToFuncResultsPass
    : impl::PropagateToFuncResultsPassBase<PropagateToFuncResultsPass> {
  void runOnOperation() override {
    markAnalysesPreserved<OpKinds>();
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isPublic() || func.isExternal())
        continue;
      Operation *end = func.getBody().back().getTerminator();
      sdy::SignatureAttributes signature(func);
      for (auto [i, value] : llvm::enumerate(end->getOperands()))
        if (isa<RankedTensorType>(value.getType()))
          signature.setResult(i, sdy::kShardingAttr, sdy::getSharding(value));
    }
  }
};
} // namespace

} // namespace shardonnay
