//===- MoveSlicesUp.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"
#include "shardonnay/transforms/collectives/ReshardedOp.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_MOVESLICESUPPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

/// A constant that is sliced is a constant.
static bool sliceConstant(sdy::ConstantOp constant, Operation *slice) {
  OpBuilder builder(slice);
  Operation *shard = builder.clone(*constant);
  sdy::setSharding(shard->getResult(0), sdy::getSharding(slice->getResult(0)));
  slice->replaceAllUsesWith(shard);
  slice->erase();
  return true;
}

/// slice(op(x)) becomes op(slice(x)).
static bool moveUp(Operation *slice, CollectivePlanner &planner) {
  Value value = slice->getOperand(0);
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_if_present<sdy::ConstantOp>(op))
    return sliceConstant(constant, slice);
  if (!op || !value.hasOneUse() || op->getBlock() != slice->getBlock())
    return false;
  sdy::NamedMesh mesh = getNamedMesh(slice);
  std::optional<ReshardedOp> resharded = ReshardedOp::get(op, mesh);
  if (!resharded ||
      !resharded->shardResult(mesh.readClosed(slice->getResult(0))) ||
      !resharded->plan(planner) || resharded->operandPrice() > 0)
    return false;
  resharded->apply(getCause(slice), /*keepSharding=*/true);
  slice->getResult(0).replaceAllUsesWith(value);
  slice->erase();
  return true;
}

bool moveSlicesUp(const CollectiveSites &sites, CollectivePlanner &planner) {
  bool changed = false;
  // The last first: one may stop at what another one passes.
  for (Operation *op : llvm::reverse(sites.collectives))
    if (isa<sdy::AllSliceOp>(op))
      changed |= moveUp(op, planner);
  return changed;
}

namespace {
struct MoveSlicesUpPass
    : OptimizationPass<impl::MoveSlicesUpPassBase<MoveSlicesUpPass>,
                       moveSlicesUp> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
