//===- RemoveShardingGroups.cpp -------------------------------------------===//
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

#define GEN_PASS_DEF_REMOVESHARDINGGROUPSPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
struct RemoveShardingGroupsPass
    : impl::RemoveShardingGroupsPassBase<RemoveShardingGroupsPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<sdy::ShardingGroupOp>())
      return markAllAnalysesPreserved();
    getOperation().walk([](sdy::ShardingGroupOp op) { op.erase(); });
  }
};
} // namespace

} // namespace shardonnay
