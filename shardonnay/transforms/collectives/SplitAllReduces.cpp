//===- SplitAllReduces.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/transforms/collectives/CollectiveChain.h"
#include "shardonnay/transforms/collectives/Optimizations.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SPLITALLREDUCESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

static SmallVector<int64_t> numbersOf(const AxisList &axes) {
  return llvm::map_to_vector(
      axes, [](AxisRef axis) { return static_cast<int64_t>(axis.axis); });
}

/// The three steps for an all_reduce of `type` sharded as `from`, whose dim
/// `dim` the `fast` axes can shard; nothing if they do not divide it.
static std::optional<ReshardPlan>
split(RankedTensorType type, const TensorSharding &from, const AxisList &fast,
      const AxisList &slow, int64_t dim, const MeshCosts &costs) {
  TensorSharding sharded = from;
  sharded.dims[dim].axes.append(fast);
  if (type.getDimSize(dim) % sharded.dims[dim].axes.numShards() != 0)
    return std::nullopt;
  sharded.unreduced = from.unreduced.subtract(fast);
  TensorSharding reduced = sharded;
  reduced.unreduced = sharded.unreduced.subtract(slow);
  TensorSharding whole = reduced;
  whole.dims[dim] = from.dims[dim];
  ReshardPlan plan;
  int64_t bytes = sdy::getShardBytes(type, from);
  auto add = [&](StepKind kind, int64_t at, const AxisList &axes, int64_t input,
                 const TensorSharding &after) {
    Step step{kind, at,        -1,
              axes, from.kind, Layout::get(after, type.getShape())};
    Cost cost = collectiveCost(kind, axes.numShards(), input);
    plan.steps.push_back(step);
    plan.cost += cost;
    plan.price += costs.price(cost, numbersOf(axes));
  };
  int64_t shard = sdy::getShardBytes(type, sharded);
  add(StepKind::ReduceScatter, dim, fast, bytes, sharded);
  add(StepKind::AllReduce, -1, slow, shard, reduced);
  add(StepKind::AllGather, dim, fast, shard, whole);
  return plan;
}

/// A sum along several axes, by one all_reduce or by some that follow each
/// other.
namespace {
struct Sum {
  Value source;
  AxisList axes;
  double price = 0;
};
} // namespace

static Sum readSum(sdy::AllReduceOp last, CollectivePlanner &planner) {
  sdy::MeshAttr mesh = getNamedMesh(last).mesh;
  Sum sum;
  for (sdy::AllReduceOp op = last; op;) {
    sum.source = op.getTensor();
    sum.axes.append(toAxisList(op.getReductionAxes().getValue(), mesh));
    sum.price += planner.price(op);
    op =
        dyn_cast_if_present<sdy::AllReduceOp>(getOwnCollective(sum.source, op));
  }
  sum.axes = sum.axes.sorted();
  return sum;
}

static bool splitOne(sdy::AllReduceOp op, CollectivePlanner &planner) {
  sdy::NamedMesh mesh = getNamedMesh(op);
  Sum sum = readSum(op, planner);
  if (sum.axes.size() < 2)
    return false;
  TensorSharding from = mesh.readClosed(sum.source);
  double best = sum.price;
  std::optional<ReshardPlan> cheapest;
  for (AxisRef axis : sum.axes)
    for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
      AxisList fast({axis});
      std::optional<ReshardPlan> plan =
          split(op.getType(), from, fast, sum.axes.subtract(fast), dim,
                planner.costs(mesh.mesh));
      if (!plan || plan->price >= best)
        continue;
      best = plan->price;
      cheapest = std::move(plan);
    }
  if (!cheapest)
    return false;
  OpBuilder builder(op);
  op.replaceAllUsesWith(buildPlan(builder, op.getLoc(), sum.source, *cheapest,
                                  mesh, getCause(op)));
  eraseDeadChain(op.getResult());
  return true;
}

bool splitAllReduces(const CollectiveSites &sites, CollectivePlanner &planner) {
  SmallVector<sdy::AllReduceOp> ops;
  for (Operation *collective : sites.collectives) {
    auto op = dyn_cast<sdy::AllReduceOp>(collective);
    if (!op)
      continue;
    bool goesOn = op->hasOneUse() && isa<sdy::AllReduceOp>(*op->user_begin()) &&
                  getOwnCollective(op.getResult(), *op->user_begin());
    if (!goesOn)
      ops.push_back(op);
  }
  bool changed = false;
  for (sdy::AllReduceOp op : ops)
    changed |= splitOne(op, planner);
  return changed;
}

namespace {
struct SplitAllReducesPass
    : OptimizationPass<impl::SplitAllReducesPassBase<SplitAllReducesPass>,
                       splitAllReduces> {
  using OptimizationPass::OptimizationPass;
};
} // namespace

} // namespace shardonnay
