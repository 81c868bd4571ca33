//===- AddDataFlowEdges.cpp - an edge for values that must agree ----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every op that passes values on:
// 1. Read the owners' shardings, and take them off the op.
// 2. Put an edge on each owner, with the owner's sharding and uses.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/DataFlowEdges.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_ADDDATAFLOWEDGESPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {

struct AddDataFlowEdgesPass
    : impl::AddDataFlowEdgesPassBase<AddDataFlowEdgesPass> {
  void runOnOperation() override {
    auto &kinds = getAnalysis<OpKinds>();
    if (!kinds.mayHave<ShardableDataFlowOpInterface>())
      return markAllAnalysesPreserved();
    forgetInside(getAnalysisManager(), getOperation());
    WalkResult walked =
        getOperation().walk([](ShardableDataFlowOpInterface op) {
          return WalkResult(addDataFlowEdges(op));
        });
    if (walked.wasInterrupted())
      return signalPassFailure();
    kinds.add({sdy::DataFlowEdgeOp::getOperationName(), &getContext()});
    markAnalysesPreserved<OpKinds>();
  }
};

} // namespace
} // namespace shardonnay
