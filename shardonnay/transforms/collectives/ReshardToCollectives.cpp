//===- ReshardToCollectives.cpp -------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every reshard:
//   1. `chain`, between layouts on one mesh:
//      a. `readProblem`: the layouts before and after, on sizes that both
//         divide.
//      b. ReshardPlanner: the steps between them.
//      c. `buildPlan`: each step as a collective, the last one with the
//         reshard's sharding.
//   2. `crossMeshes`: on the source's mesh into the target's axes and then a
//      permute, where only the order of the devices differs; else through the
//      whole value, of which a reshard that stays takes a piece.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/SingleDevice.h"
#include "shardonnay/explain/DeviceModelOption.h"
#include "shardonnay/transforms/collectives/CollectivePlanner.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_RESHARDTOCOLLECTIVESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

namespace {

class ReshardLowering {
public:
  ReshardLowering(sdy::ReshardOp op, bool keepRedundant,
                  const DeviceModel &model, ReshardPlanner &planner)
      : op(op), keepRedundant(keepRedundant), model(model), planner(planner),
        builder(op), source(sdy::getSharding(op.getInput())),
        target(op.getSharding()) {}

  LogicalResult run();

private:
  /// Null if the sharding cuts nothing.
  sdy::MeshAttr meshOf(sdy::TensorShardingAttr sharding) {
    return sharding && !sharding.isReplicated() ? sdy::getMesh(op, sharding)
                                                : nullptr;
  }
  /// `value` goes from `from` to `to`, both on one mesh or whole.
  LogicalResult chain(sdy::TensorShardingAttr from, sdy::TensorShardingAttr to);
  LogicalResult crossMeshes();
  FailureOr<ReshardProblem> readProblem(sdy::TensorShardingAttr from,
                                        sdy::TensorShardingAttr to);
  /// The layout of the tensor under `sharding`.
  FailureOr<Layout> readLayout(sdy::TensorShardingAttr sharding);

  sdy::ReshardOp op;
  bool keepRedundant;
  const DeviceModel &model;
  ReshardPlanner &planner;
  OpBuilder builder;
  /// Null if the input is replicated.
  sdy::TensorShardingAttr source;
  sdy::TensorShardingAttr target;
  Value value;
  /// Of the present chain; null if neither side names an axis.
  sdy::MeshAttr mesh;
  Attribute meshOrRef;
};

LogicalResult ReshardLowering::run() {
  value = op.getInput();
  sdy::MeshAttr from = meshOf(source), to = meshOf(target);
  // What is computed on one device is whole on all, but keeps its sharding.
  if (sdy::getSingleDevice(op, source))
    return success();
  if (from && to && from != to) {
    if (failed(crossMeshes()))
      return failure();
  } else if (failed(chain(source, target))) {
    return failure();
  }
  if (value == op.getResult() || (keepRedundant && value == op.getInput()))
    return success();
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

LogicalResult ReshardLowering::chain(sdy::TensorShardingAttr from,
                                     sdy::TensorShardingAttr to) {
  mesh = nullptr;
  for (sdy::TensorShardingAttr sharding : {from, to})
    if (sdy::MeshAttr used = meshOf(sharding)) {
      mesh = used;
      meshOrRef = sharding.getMeshOrRef();
    }
  if (!mesh)
    return success();
  FailureOr<ReshardProblem> problem = readProblem(from, to);
  if (failed(problem))
    return failure();
  std::string error;
  const ReshardPlan *plan = planner.plan(*problem, error);
  if (!plan)
    return op->emitOpError() << "has no chain of collectives from " << from
                             << " to " << to << ": " << error;
  if (!plan->steps.empty())
    value = buildPlan(builder, op.getLoc(), value, *plan, {mesh, meshOrRef},
                      op->getAttr(sdy::kCauseAttr));
  return success();
}

LogicalResult ReshardLowering::crossMeshes() {
  sdy::MeshAttr from = meshOf(source), to = meshOf(target);
  TensorSharding wanted = sdy::toSharding(target, to);
  if (from.hasSameAxes(to)) {
    // In the meantime position by position as in the target.
    if (failed(chain(source,
                     sdy::fromSharding(wanted, source.getMeshOrRef(), from))))
      return failure();
    value = sdy::CollectivePermuteOp::create(builder, op.getLoc(), op.getType(),
                                             value, target);
    if (Attribute cause = op->getAttr(sdy::kCauseAttr))
      value.getDefiningOp()->setAttr(sdy::kCauseAttr, cause);
    return success();
  }
  if (!wanted.unreduced.empty())
    return op->emitOpError()
           << "is from " << source << " to " << target
           << ", expected a partial value to stay on meshes of the same axes";
  if (failed(chain(source, sdy::TensorShardingAttr::getFullyClosed(
                               op.getContext(), op.getType().getRank(),
                               source.getMeshOrRef()))))
    return failure();
  op.getInputMutable().assign(value);
  value = op.getResult();
  return success();
}

FailureOr<ReshardProblem>
ReshardLowering::readProblem(sdy::TensorShardingAttr before,
                             sdy::TensorShardingAttr after) {
  FailureOr<Layout> from = readLayout(before);
  FailureOr<Layout> to = readLayout(after);
  if (failed(from) || failed(to))
    return failure();
  alignPadding(*from, *to);
  Type element = op.getType().getElementType();
  int64_t bytes = 8;
  if (element.isIntOrFloat())
    bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return ReshardProblem{sdy::toMesh(mesh), *from, *to, bytes,
                        toMeshCosts(model, mesh)};
}

FailureOr<Layout>
ReshardLowering::readLayout(sdy::TensorShardingAttr sharding) {
  RankedTensorType type = op.getType();
  if (!type.hasStaticShape())
    return op->emitOpError()
           << "has the dynamic shape " << type << ", expected static shapes";
  // A sharding without axes may be on the empty mesh.
  if (!sharding || sharding.isReplicated())
    return Layout::replicated(type.getShape());
  return Layout::get(sdy::toSharding(sharding, mesh), type.getShape());
}

struct ReshardToCollectivesPass
    : PricedPass<impl::ReshardToCollectivesPassBase<ReshardToCollectivesPass>> {
  using PricedPass::PricedPass;

  void runOnOperation() override {
    ReshardPlanner planner;
    bool ok = true;
    getOperation().walk([&](sdy::ReshardOp op) {
      ok &= succeeded(
          ReshardLowering(op, keepRedundantReshards, *model, planner).run());
    });
    if (!ok)
      signalPassFailure();
  }
};

} // namespace

} // namespace shardonnay
