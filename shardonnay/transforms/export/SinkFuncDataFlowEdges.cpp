//===- SinkFuncDataFlowEdges.cpp ------------------------------------------===//
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

#define GEN_PASS_DEF_SINKFUNCDATAFLOWEDGESPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
struct SinkFuncDataFlowEdgesPass
    : impl::SinkFuncDataFlowEdgesPassBase<SinkFuncDataFlowEdgesPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<sdy::FuncDataFlowEdgeOp>())
      return markAllAnalysesPreserved();
    getOperation().walk([](sdy::FuncDataFlowEdgeOp edge) {
      Value owner = edge.getOperand();
      if (sdy::TensorShardingAttr sharding = sdy::getSharding(edge))
        sdy::setSharding(owner, sharding);
      edge.replaceAllUsesWith(owner);
      edge.erase();
    });
  }
};
} // namespace

} // namespace shardonnay
