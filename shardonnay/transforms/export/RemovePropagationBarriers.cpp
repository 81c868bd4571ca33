//===- RemovePropagationBarriers.cpp --------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_REMOVEPROPAGATIONBARRIERSPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
struct RemovePropagationBarriersPass
    : impl::RemovePropagationBarriersPassBase<RemovePropagationBarriersPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<sdy::PropagationBarrierOp>())
      return markAllAnalysesPreserved();
    getOperation().walk([](sdy::PropagationBarrierOp op) {
      op.replaceAllUsesWith(op.getInput());
      op.erase();
    });
  }
};
} // namespace

} // namespace shardonnay
