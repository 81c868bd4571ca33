//===- ShardingConstraintToReshard.cpp ------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SHARDINGCONSTRAINTTORESHARDPASS
#include "shardonnay/transforms/export/Passes.h.inc"

namespace {
struct ShardingConstraintToReshardPass
    : impl::ShardingConstraintToReshardPassBase<
          ShardingConstraintToReshardPass> {
protected:
  void runOnOperation() override {
    getOperation().walk([](sdy::ShardingConstraintOp op) {
      OpBuilder builder(op);
      auto reshard = sdy::ReshardOp::create(builder, op.getLoc(), op.getInput(),
                                            op.getSharding());
      op.replaceAllUsesWith(reshard.getResult());
      op.erase();
    });
  }
};
} // namespace

} // namespace shardonnay
