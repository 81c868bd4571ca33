//===- MergeReturnedReductions.cpp ----------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each collective that is the only user of a manual computation's result:
//   1. `findReduction`: the user's reduction that this result comes from, along
//      manual axes
//   2. `merge`: the result is partial instead, and what was a reduction and a
//      collective is the plan from there, where that is cheaper
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/CollectiveMesh.h"
#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_MERGERETURNEDREDUCTIONSPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

namespace {
/// A user's reduction, of which a manual computation returns the result.
struct ReturnedReduction {
  UserCollectiveOpInterface op;
  Value summand;
  AxisList axes;
  ReductionKind kind;
};
} // namespace

static std::optional<ReductionKind> parseReduction(StringRef name) {
  for (ReductionKind kind :
       {ReductionKind::Sum, ReductionKind::Max, ReductionKind::Min})
    if (name == toString(kind))
      return kind;
  return std::nullopt;
}

static bool areManual(const AxisList &axes, sdy::ManualComputationOp manual,
                      sdy::MeshAttr mesh) {
  return llvm::all_of(axes, [&](AxisRef axis) {
    StringRef name = mesh.getAxes()[axis.axis].getName();
    return llvm::any_of(manual.getManualAxes().getValue(),
                        [&](StringAttr other) { return other == name; });
  });
}

/// The reduction that `result` of `manual` comes from, if nothing else reads
/// what it reduces to.
static std::optional<ReturnedReduction>
findReduction(sdy::ManualComputationOp manual, OpResult result,
              sdy::MeshAttr mesh) {
  Block &body = manual.getBody().front();
  Value returned = body.getTerminator()->getOperand(result.getResultNumber());
  auto op = returned.getDefiningOp<UserCollectiveOpInterface>();
  if (!op || op->getBlock() != &body || op->getNumResults() != 1 ||
      !returned.hasOneUse())
    return std::nullopt;
  std::optional<UserCollective> written = op.getUserCollective();
  if (!written || written->kind != CollectiveKind::AllReduce ||
      written->sent.size() != 1)
    return std::nullopt;
  std::optional<ReductionKind> kind = parseReduction(written->reduction);
  std::optional<AxisList> axes = sdy::getExactAxes(op, mesh);
  if (!kind || !axes || axes->empty() || !areManual(*axes, manual, mesh))
    return std::nullopt;
  return ReturnedReduction{op, written->sent.front(), *axes, *kind};
}

/// Has the reduction and `outer` be one; false if that is no cheaper.
static bool merge(const ReturnedReduction &reduction, Operation *outer,
                  const sdy::NamedMesh &mesh, CollectivePlanner &planner) {
  Value input = outer->getOperand(0), result = outer->getResult(0);
  TensorSharding reduced = mesh.readClosed(input), partial = reduced;
  partial.replicated = AxisList();
  partial.unreduced = reduction.axes.sorted();
  partial.kind = reduction.kind;
  for (AxisRef axis : reduction.axes)
    for (const DimSharding &dim : reduced.dims)
      if (dim.axes.excludes(axis))
        return false;
  if (!reduced.unreduced.empty())
    return false;
  auto type = cast<RankedTensorType>(result.getType());
  const ReshardPlan *apart = planner.plan(type, partial, reduced, mesh.mesh);
  if (!apart)
    return false;
  double price = apart->price + planner.price(outer);
  const ReshardPlan *plan =
      planner.plan(type, partial, mesh.readClosed(result), mesh.mesh);
  if (!plan || plan->price >= price)
    return false;
  OpBuilder builder(outer);
  sdy::setSharding(input, mesh.write(partial));
  result.replaceAllUsesWith(buildPlan(builder, reduction.op->getLoc(), input,
                                      *plan, mesh, getCause(outer)));
  outer->erase();
  reduction.op->getResult(0).replaceAllUsesWith(reduction.summand);
  reduction.op->erase();
  return true;
}

bool mergeReturnedReductions(const CollectiveSites &sites,
                             CollectivePlanner &planner) {
  bool changed = false;
  for (Operation *outer : sites.collectives) {
    auto input = dyn_cast<OpResult>(outer->getOperand(0));
    auto manual =
        input ? dyn_cast<sdy::ManualComputationOp>(input.getOwner()) : nullptr;
    if (!manual || !input.hasOneUse() ||
        manual->getBlock() != outer->getBlock())
      continue;
    sdy::NamedMesh mesh = getNamedMesh(outer);
    if (sdy::getMesh(outer, sdy::getSharding(input)) != mesh.mesh)
      continue;
    if (auto reduction = findReduction(manual, input, mesh.mesh))
      changed |= merge(*reduction, outer, mesh, planner);
  }
  return changed;
}

namespace {
struct MergeReturnedReductionsPass
    : OptimizationPass<
          impl::MergeReturnedReductionsPassBase<MergeReturnedReductionsPass>,
          mergeReturnedReductions> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
