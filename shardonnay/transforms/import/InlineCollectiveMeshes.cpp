//===- InlineCollectiveMeshes.cpp -----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/CollectiveMesh.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/transforms/import/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_INLINECOLLECTIVEMESHESPASS
#include "shardonnay/transforms/import/Passes.h.inc"

namespace {
struct InlineCollectiveMeshesPass
    : impl::InlineCollectiveMeshesPassBase<InlineCollectiveMeshesPass> {
  void runOnOperation() override {
    if (getAnalysis<OpKinds>().mayHave<UserCollectiveOpInterface>() &&
        failed(sdy::inlineCollectiveMeshes(getOperation())))
      return signalPassFailure();
    // No op is another one.
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace shardonnay
