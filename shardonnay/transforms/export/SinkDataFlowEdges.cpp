//===- SinkDataFlowEdges.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SINKDATAFLOWEDGESPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
struct SinkDataFlowEdgesPass
    : impl::SinkDataFlowEdgesPassBase<SinkDataFlowEdgesPass> {
protected:
  void runOnOperation() override {
    getOperation().walk([](sdy::DataFlowEdgeOp edge) {
      Value owner = edge.getInput();
      if (sdy::TensorShardingAttr sharding = edge.getShardingAttr())
        sdy::setSharding(owner, sharding);
      edge.replaceAllUsesWith(owner);
      edge.erase();
    });
  }
};
} // namespace

} // namespace shardonnay
