//===- MoveGathers.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"
#include "shardonnay/transforms/collectives/ReshardedOp.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_MOVEGATHERSPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

/// The gather that makes `value` for `user` alone; null if there is none.
static Operation *getOwnGather(Value value, Operation *user) {
  Operation *op = getOwnCollective(value, user);
  return isa_and_present<sdy::AllGatherOp>(op) ? op : nullptr;
}

/// op(gather(x)) becomes gather(op(x)) where that is cheaper, or as cheap and
/// less is computed.
static bool moveDown(Operation *op, CollectivePlanner &planner) {
  llvm::MapVector<unsigned, Value> sources;
  SmallVector<Operation *> gathers;
  double before = 0;
  for (OpOperand &operand : op->getOpOperands())
    if (Operation *gather = getOwnGather(operand.get(), op)) {
      gathers.push_back(gather);
      sources[operand.getOperandNumber()] = gather->getOperand(0);
      before += planner.price(gather);
    }
  if (gathers.empty())
    return false;
  std::optional<ReshardedOp> resharded =
      ReshardedOp::get(op, getNamedMesh(gathers.front()));
  if (!resharded || !resharded->replaceOperands(sources) ||
      !resharded->plan(planner))
    return false;
  double after = resharded->operandPrice() + resharded->resultPrice();
  if (after > before || (after == before && resharded->touchedAfter() >=
                                                resharded->touchedBefore()))
    return false;
  resharded->apply(getCause(gathers.front()));
  for (Operation *gather : gathers)
    eraseDeadChain(gather->getResult(0));
  return true;
}

/// gather(op(x)) becomes op(gather(x)) where x is smaller: `op` widens or
/// repeats it, and touching more memory is cheaper than sending it.
static bool moveUp(Operation *gather, CollectivePlanner &planner) {
  Value value = gather->getOperand(0);
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || op->getBlock() != gather->getBlock())
    return false;
  sdy::NamedMesh mesh = getNamedMesh(gather);
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  std::optional<ReshardedOp> resharded = ReshardedOp::get(op, mesh);
  if (!rule || rule.isContraction() || !resharded ||
      !resharded->shardResult(mesh.readClosed(gather->getResult(0))) ||
      !resharded->plan(planner))
    return false;
  double more = resharded->touchedAfter() - resharded->touchedBefore();
  if (resharded->operandPrice() + planner.memoryPrice(more, mesh.mesh) >=
      planner.price(gather))
    return false;
  resharded->apply(getCause(gather), /*keepSharding=*/true);
  gather->getResult(0).replaceAllUsesWith(value);
  gather->erase();
  return true;
}

bool moveGathers(const CollectiveSites &sites, CollectivePlanner &planner) {
  SmallVector<Operation *> gathers = llvm::filter_to_vector(
      sites.collectives, llvm::IsaPred<sdy::AllGatherOp>);
  if (gathers.empty())
    return false;
  // Those that move up are replaced, others stay.
  llvm::DenseSet<Operation *> isGather(gathers.begin(), gathers.end());
  bool changed = false;
  // In program order, so that one gather may pass several ops.
  for (Operation *gather : gathers)
    changed |= moveUp(gather, planner);
  for (Operation *op : sites.ops)
    if (!isGather.contains(op))
      changed |= moveDown(op, planner);
  return changed;
}

namespace {
struct MoveGathersPass
    : OptimizationPass<impl::MoveGathersPassBase<MoveGathersPass>,
                       moveGathers> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
