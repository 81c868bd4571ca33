//===- ReshardToCollectives.cpp -------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every reshard that no equal one stood before (`repeat`: its chain is
// copied):
//   1. `chain`, between layouts on one mesh:
//      a. `spread`: what becomes partial along the minor axes of its dims is
//         in parts as it is: each device has its own.
//         `readProblem`: the layouts before and after, on sizes that both
//         divide.
//      b. ReshardPlanner: the steps between them.
//      c. `buildPlan`: each step as a collective, the last one with the
//         reshard's sharding.
//      d. `own`: what is whole along other axes that it becomes partial along
//         is the one device's, and nothing the others'.
//   2. `crossMeshes`: on the source's mesh into the target's axes, with one
//      permute to the target's devices among the steps, where only their order
//      differs (`changeDevices`); else through the whole value, of which a
//      reshard that stays takes a shard. (Operand and result of a collective
//      are on one mesh, whole ones too.)
//
//===----------------------------------------------------------------------===//

#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/ReshardList.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/dialect/sdy/access/SingleDevice.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/support/CompositeKey.h"
#include "shardonnay/support/Diagnostics.h"
#include "shardonnay/transforms/collectives/CollectivePlanner.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_RESHARDTOCOLLECTIVESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

namespace {

/// The ops of the chains that were made, by source, target, type and cause.
using KnownChains = CompositeMap<std::optional<SmallVector<Operation *, 2>>>;

class ReshardLowering {
public:
  ReshardLowering(sdy::ReshardOp op, bool keepRedundant,
                  const DeviceModel &model, ReshardPlanner &planner,
                  KnownChains &chains)
      : op(op), keepRedundant(keepRedundant), model(model), planner(planner),
        chains(chains), builder(op), source(sdy::getSharding(op.getInput())),
        target(op.getSharding()) {}

  LogicalResult run();

private:
  /// Null if the sharding shards nothing.
  sdy::NamedMesh meshOf(sdy::TensorShardingAttr sharding) {
    return sharding && !sharding.isReplicated()
               ? sdy::NamedMesh::of(op, sharding)
               : sdy::NamedMesh();
  }
  TensorSharding read(sdy::TensorShardingAttr sharding) {
    return mesh.readClosed(sharding,
                           cast<RankedTensorType>(op.getType()).getRank());
  }
  /// Copies the chain of an equal reshard; false if there was none.
  bool repeat();
  LogicalResult make();
  CompositeKey getKey();
  /// `value` goes from `from` to `to`, both on one mesh or whole.
  LogicalResult chain(sdy::TensorShardingAttr from, sdy::TensorShardingAttr to);
  LogicalResult crossMeshes();
  /// The chain so far ends on the target's mesh, of the source's axes.
  void changeDevices();
  /// Both sides name a mesh, not the same.
  bool changesMesh();
  /// Why the steps of `plan` are there, and how far from the best they may be;
  /// null if that is not known.
  Attribute causeOf(const ReshardProblem &problem, const ReshardPlan &plan);
  /// Writes `op` with the reshard's cause.
  Value write(Operation *op);
  /// `value`, of `from`, in parts along those of `axes` that its dims are
  /// sharded by last.
  void spread(TensorSharding &from, const AxisList &axes, ReductionKind kind);
  void own(TensorSharding from, const AxisList &axes, ReductionKind kind);
  ReshardProblem readProblem(const TensorSharding &from,
                             const TensorSharding &to);

  sdy::ReshardOp op;
  bool keepRedundant;
  const DeviceModel &model;
  ReshardPlanner &planner;
  KnownChains &chains;
  OpBuilder builder;
  /// Null if the input is replicated.
  sdy::TensorShardingAttr source;
  sdy::TensorShardingAttr target;
  Value value;
  /// The mesh of the present chain; null if neither side names an axis.
  sdy::NamedMesh mesh;
};

LogicalResult ReshardLowering::run() {
  value = op.getInput();
  // What has no shape is the same on every device.
  if (!isa<RankedTensorType>(op.getType())) {
    op.replaceAllUsesWith(value);
    op.erase();
    return success();
  }
  // What is computed on one device is whole on all, but keeps its sharding.
  if (sdy::getSingleDevice(op, source))
    return success();
  if (!repeat() && failed(make()))
    return failure();
  if (value == op.getResult() || (keepRedundant && value == op.getInput()))
    return success();
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

CompositeKey ReshardLowering::getKey() {
  return makeKey(source, target, op.getType(), op->getAttr(sdy::kCauseAttr));
}

bool ReshardLowering::repeat() {
  const auto &known = chains.find(getKey()).first;
  if (!known)
    return false;
  for (Operation *made : *known) {
    Operation *copy = builder.clone(*made);
    copy->setLoc(op.getLoc());
    copy->setOperand(0, value);
    value = copy->getResult(0);
  }
  return true;
}

LogicalResult ReshardLowering::make() {
  if (changesMesh())
    return crossMeshes();
  if (failed(chain(source, target)))
    return failure();
  // Else the input may have been given a sharding too.
  if (!source || source.getMeshOrRef() != target.getMeshOrRef())
    return success();
  SmallVector<Operation *, 2> made;
  for (Value last = value; last != op.getInput();) {
    made.push_back(last.getDefiningOp());
    last = made.back()->getOperand(0);
  }
  std::reverse(made.begin(), made.end());
  chains.find(getKey()).first = std::move(made);
  return success();
}

LogicalResult ReshardLowering::chain(sdy::TensorShardingAttr from,
                                     sdy::TensorShardingAttr to) {
  mesh = {};
  for (sdy::TensorShardingAttr sharding : {from, to})
    if (sdy::NamedMesh used = meshOf(sharding))
      mesh = used;
  if (!mesh)
    return success();
  auto type = cast<RankedTensorType>(op.getType());
  if (!type.hasStaticShape())
    return op->emitOpError()
           << "has the dynamic shape " << type << ", expected static shapes";
  TensorSharding source = read(from), target = read(to);
  AxisList added = target.unreduced.subtract(source.unreduced);
  if (!added.empty())
    spread(source, added, target.kind);
  AxisList owned = added.subtract(source.unreduced);
  target.unreduced = target.unreduced.subtract(owned);
  std::string error;
  ReshardProblem problem = readProblem(source, target);
  const ReshardPlan *plan = planner.plan(problem, error);
  if (!plan)
    return pointAtOperand(op->emitOpError()
                              << "has no chain of collectives from " << from
                              << " to " << to << ": " << error,
                          op.getInput());
  if (!plan->steps.empty())
    value = buildPlan(builder, op.getLoc(), value, *plan, mesh,
                      causeOf(problem, *plan));
  if (!owned.empty())
    own(target, owned, target.kind);
  return success();
}

Attribute ReshardLowering::causeOf(const ReshardProblem &problem,
                                   const ReshardPlan &plan) {
  Attribute cause = op->getAttr(sdy::kCauseAttr);
  double least = leastPrice(problem);
  if (plan.optimal || plan.price <= least)
    return cause;
  std::string text;
  if (auto given = dyn_cast_if_present<StringAttr>(cause))
    text = given.str() + "; ";
  text +=
      "not proven cheapest, as the search was given up: it costs " +
      problem.costs.str(plan.price) +
      (least > 0 ? ", and at least " + problem.costs.str(least) + " are needed"
                 : ", and how much is needed at least is not known");
  return builder.getStringAttr(text);
}

Value ReshardLowering::write(Operation *made) {
  if (Attribute cause = op->getAttr(sdy::kCauseAttr))
    made->setAttr(sdy::kCauseAttr, cause);
  return made->getResult(0);
}

void ReshardLowering::spread(TensorSharding &from, const AxisList &axes,
                             ReductionKind kind) {
  SmallVector<sdy::AxisRefListAttr> lists;
  bool any = false;
  for (DimSharding &dim : from.dims) {
    AxisList kept = dim.axes;
    while (!kept.empty() && axes.covers(kept.back()))
      kept = AxisList(kept.refs().drop_back());
    AxisList last = dim.axes.dropPrefix(kept);
    any |= !last.empty();
    from.unreduced.append(last);
    dim.axes = kept;
    lists.push_back(mesh.write(last));
  }
  if (!any)
    return;
  from.unreduced = from.unreduced.sorted();
  from.kind = kind;
  value = write(sdy::ShardedToUnreducedOp::create(
      builder, op.getLoc(), op.getType(), value,
      sdy::ListOfAxisRefListsAttr::get(op.getContext(), lists),
      mesh.write(from)));
}

void ReshardLowering::own(TensorSharding from, const AxisList &axes,
                          ReductionKind kind) {
  if (!sdy::getSharding(value))
    sdy::setSharding(value, mesh.write(from));
  from.unreduced.append(axes);
  from.unreduced = from.unreduced.sorted();
  from.kind = kind;
  value = write(sdy::ReplicatedToUnreducedOp::create(
      builder, op.getLoc(), op.getType(), value, mesh.write(axes),
      mesh.write(from)));
}

bool ReshardLowering::changesMesh() {
  sdy::MeshAttr from = source ? sdy::getMesh(op, source) : nullptr;
  sdy::MeshAttr to = sdy::getMesh(op, target);
  return from && to && from != to && !from.isEmpty() && !to.isEmpty();
}

LogicalResult ReshardLowering::crossMeshes() {
  sdy::NamedMesh from = meshOf(source), to = meshOf(target);
  if (from && to && from.mesh.hasSameAxes(to.mesh)) {
    // In the meantime position by position as in the target.
    if (failed(chain(source, from.write(to.read(target)))))
      return failure();
    changeDevices();
    return success();
  }
  if (from && failed(chain(
                  source, from.replicated(
                              cast<RankedTensorType>(op.getType()).getRank()))))
    return failure();
  mesh = sdy::NamedMesh::of(op, target);
  TensorSharding shard = read(target);
  AxisList owned = std::exchange(shard.unreduced, AxisList());
  if (owned.empty()) {
    op.getInputMutable().assign(value);
    value = op.getResult();
    return success();
  }
  value = write(
      sdy::ReshardOp::create(builder, op.getLoc(), value, mesh.write(shard)));
  own(shard, owned, shard.kind);
  return success();
}

void ReshardLowering::changeDevices() {
  SmallVector<Operation *> steps;
  for (Value last = value; last != op.getInput();) {
    steps.push_back(last.getDefiningOp());
    last = steps.back()->getOperand(0);
  }
  std::reverse(steps.begin(), steps.end());
  auto onTarget = [&](sdy::TensorShardingAttr sharding) {
    return sdy::TensorShardingAttr::get(
        op.getContext(), target.getMeshOrRef(), sharding.getDimShardings(),
        sharding.getReplicatedAxes(), sharding.getUnreducedAxes(),
        sharding.getReductionKind());
  };
  // A permute of axes is one of devices too. Without one it goes where least
  // is held: behind what sends nothing.
  auto *at = llvm::find_if(steps, llvm::IsaPred<sdy::CollectivePermuteOp>);
  if (at == steps.end()) {
    at = llvm::find_if_not(
        steps, llvm::IsaPred<sdy::AllSliceOp, sdy::ShardedToUnreducedOp>);
    OpBuilder::InsertionGuard guard(builder);
    if (at != steps.end())
      builder.setInsertionPoint(*at);
    Value before = at == steps.end() ? value : (*at)->getOperand(0);
    Value permuted = write(sdy::CollectivePermuteOp::create(
        builder, op.getLoc(), op.getType(), before,
        onTarget(sdy::getSharding(before))));
    if (at == steps.end())
      value = permuted;
    else
      (*at)->setOperand(0, permuted);
  }
  for (Operation *step : llvm::make_range(at, steps.end()))
    sdy::setSharding(step->getResult(0),
                     onTarget(sdy::getSharding(step->getResult(0))));
}

ReshardProblem ReshardLowering::readProblem(const TensorSharding &before,
                                            const TensorSharding &after) {
  auto type = cast<RankedTensorType>(op.getType());
  ArrayRef<int64_t> shape = type.getShape();
  return realProblem(mesh.toMesh(), Layout::get(before, shape),
                     Layout::get(after, shape), shape,
                     sdy::getElementBytes(type), toMeshCosts(model, mesh.mesh));
}

struct ReshardToCollectivesPass
    : PricedPass<impl::ReshardToCollectivesPassBase<ReshardToCollectivesPass>> {
  using PricedPass::PricedPass;

  void runOnOperation() override {
    ModelPlans &plans = getAnalysis<SharedPlans>().get(deviceModel, model);
    KnownChains chains;
    bool ok = true;
    auto &list = getAnalysis<sdy::ReshardList>();
    if (getAnalysis<OpKinds>().mayHave<sdy::PropagationBarrierOp>())
      removeBarriers(list);
    for (sdy::ReshardOp op : list.get())
      ok &= succeeded(ReshardLowering(op, keepRedundantReshards, *plans.model,
                                      plans.planner, chains)
                          .run());
    if (!ok)
      signalPassFailure();
  }

  /// Behind propagation a barrier is its operand, in the sharding that it says.
  void removeBarriers(sdy::ReshardList &list) {
    std::vector<sdy::ReshardOp> reshards(list.get());
    getOperation().walk([&](sdy::PropagationBarrierOp op) {
      Value value = op.getInput();
      sdy::TensorShardingAttr sharding = sdy::getSharding(op);
      if (sharding && sharding != sdy::getSharding(value)) {
        OpBuilder builder(op);
        reshards.push_back(
            sdy::ReshardOp::create(builder, op.getLoc(), value, sharding));
        value = reshards.back();
      }
      op.replaceAllUsesWith(value);
      op.erase();
    });
    list.set(std::move(reshards));
  }
};

} // namespace

} // namespace shardonnay
