//===- BroadcastOwnerSlices.cpp -------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/strategy/FactorStrategy.h"
#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_BROADCASTOWNERSLICESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

/// The result's sharding where every factor is sharded as the operands have it;
/// nothing if they do not agree.
static std::optional<TensorSharding>
resultOfPicking(Operation *op, const FactorRule &rule,
                const sdy::NamedMesh &mesh) {
  FactorStrategy strategy(rule.factors.size());
  for (auto [operand, mapping] :
       llvm::zip_equal(op->getOperands(), rule.operands)) {
    if (mapping.dims.empty())
      continue;
    TensorSharding sharding = mesh.readClosed(operand);
    if (!sharding.unreduced.empty())
      return std::nullopt;
    TensorProjection row = project(sharding, mapping, rule.factors);
    for (auto [axes, cell] : llvm::zip_equal(strategy, row.factors)) {
      if (!cell.overflow.empty())
        return std::nullopt;
      if (!cell.axes.empty())
        axes = cell.axes;
    }
  }
  if (!isLawful(strategy, rule))
    return std::nullopt;
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, strategy))
    if (factor.kind == FactorKind::Windowed && !axes.empty())
      return std::nullopt;
  return shardingUnder(strategy, rule, rule.operands.size());
}

/// Where `gather` needs all that an op's result is sharded by in a dim of which
/// the op picks one position.
static bool broadcastOwner(sdy::AllGatherOp gather,
                           CollectivePlanner &planner) {
  auto op = gather.getTensor().getDefiningOp<LocalComputeOpInterface>();
  if (!op || op->getNumResults() != 1 || !op->hasOneUse())
    return false;
  std::optional<FactorRule> rule = op.getPickingRule();
  if (!rule)
    return false;
  sdy::NamedMesh mesh = getNamedMesh(gather);
  std::optional<TensorSharding> result = resultOfPicking(op, *rule, mesh);
  // As it is now, its windows are fetched and then gathered.
  if (!result || result->unreduced.empty())
    return false;
  const ReshardPlan *plan =
      planner.plan(gather.getType(), *result,
                   mesh.readClosed(gather.getResult()), mesh.mesh);
  if (!plan || plan->price >= planner.price(gather))
    return false;
  OpBuilder builder(gather);
  sdy::setSharding(op->getResult(0), mesh.write(*result));
  gather.replaceAllUsesWith(buildPlan(builder, gather.getLoc(),
                                      op->getResult(0), *plan, mesh,
                                      getCause(gather)));
  gather.erase();
  return true;
}

bool broadcastOwnerSlices(const CollectiveSites &sites,
                          CollectivePlanner &planner) {
  bool changed = false;
  for (Operation *op : sites.collectives)
    if (auto gather = dyn_cast<sdy::AllGatherOp>(op))
      changed |= broadcastOwner(gather, planner);
  return changed;
}

namespace {
struct BroadcastOwnerSlicesPass
    : OptimizationPass<
          impl::BroadcastOwnerSlicesPassBase<BroadcastOwnerSlicesPass>,
          broadcastOwnerSlices> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
