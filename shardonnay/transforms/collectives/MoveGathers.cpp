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

/// The op that makes `value`, for one use in `block`, if its result may come to
/// be sharded as `sharding`.
static std::optional<ReshardedOp>
reshardProducer(Value value, Block *block, const TensorSharding &sharding,
                const sdy::NamedMesh &mesh, CollectivePlanner &planner) {
  Operation *op = value.getDefiningOp();
  auto rule = dyn_cast_or_null<ShardingRuleOpInterface>(op);
  if (!rule || rule.isContraction() || !value.hasOneUse() ||
      op->getBlock() != block)
    return std::nullopt;
  std::optional<ReshardedOp> resharded = ReshardedOp::get(op, mesh);
  if (resharded &&
      (!resharded->shardResult(sharding) || !resharded->plan(planner)))
    return std::nullopt;
  return resharded;
}

/// How many ops a collective moves past at most, to find one before which there
/// is less to send.
constexpr size_t kReach = 4;

/// Where another collective makes the operand of `op` for it alone, one in its
/// place that leaves the operand sharded as `sharding`, if there is one that
/// costs at most `more` than that. A slice is none: it spreads work.
static bool mergeWithInner(Operation *op, const TensorSharding &sharding,
                           double more, const sdy::NamedMesh &mesh,
                           CollectivePlanner &planner) {
  Operation *inner = getOwnCollective(op->getOperand(0), op);
  if (!inner || isa<sdy::AllSliceOp>(inner) ||
      getNamedMesh(inner).mesh != mesh.mesh)
    return false;
  Value source = inner->getOperand(0);
  const ReshardPlan *plan =
      planner.plan(cast<RankedTensorType>(source.getType()),
                   mesh.readClosed(source), sharding, mesh.mesh);
  if (!plan || plan->steps.size() > 1 ||
      plan->price > planner.price(inner) + more)
    return false;
  OpBuilder builder(op);
  op->setOperand(0, buildPlan(builder, inner->getLoc(), source, *plan, mesh,
                              getCause(inner)));
  eraseDeadChain(inner->getResult(0));
  return true;
}

/// move(op(x)) becomes op(move(x)), of a collective that only moves shards,
/// where x is smaller: `op` widens or repeats it, and touching more memory is
/// cheaper than sending it; or where one collective does for this one and the
/// one that makes x, and `op` computes nothing. Between the collective and such
/// an op may be others of one operand.
static bool moveUp(Operation *collective, CollectivePlanner &planner) {
  sdy::NamedMesh mesh = getNamedMesh(collective);
  TensorSharding sharding = mesh.readClosed(collective->getResult(0));
  Value made = collective->getOperand(0), value = made;
  SmallVector<ReshardedOp, kReach> passed;
  double more = 0;
  bool computes = false;
  auto finish = [&] {
    for (ReshardedOp &other : passed)
      other.applyToResult();
    collective->getResult(0).replaceAllUsesWith(made);
    collective->erase();
    return true;
  };
  while (passed.size() < kReach) {
    std::optional<ReshardedOp> resharded =
        reshardProducer(value, collective->getBlock(), sharding, mesh, planner);
    if (!resharded)
      return false;
    more += resharded->touchedAfter() - resharded->touchedBefore();
    passed.push_back(*resharded);
    double saved =
        planner.price(collective) - planner.memoryPrice(more, mesh.mesh);
    if (resharded->operandPrice() < saved) {
      passed.pop_back_val().apply(getCause(collective), /*keepSharding=*/true);
      return finish();
    }
    Operation *op = value.getDefiningOp();
    if (op->getNumOperands() != 1)
      return false;
    value = op->getOperand(0);
    sharding = resharded->getNeeded(0);
    computes |= cast<ShardingRuleOpInterface>(op).isElementwise();
    if (!computes && mergeWithInner(op, sharding, saved, mesh, planner))
      return finish();
  }
  return false;
}

bool moveGathers(const CollectiveSites &sites, CollectivePlanner &planner) {
  SmallVector<Operation *> collectives = llvm::filter_to_vector(
      sites.collectives, llvm::IsaPred<sdy::AllGatherOp, sdy::AllToAllOp,
                                       sdy::CollectivePermuteOp>);
  if (collectives.empty())
    return false;
  // Those that move up are replaced, others stay.
  llvm::DenseSet<Operation *> isCollective(sites.collectives.begin(),
                                           sites.collectives.end());
  bool changed = false;
  // In program order, so that one may pass several ops.
  for (Operation *collective : collectives)
    changed |= moveUp(collective, planner);
  for (Operation *op : sites.ops)
    if (!isCollective.contains(op))
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
