//===- ReshardToCollectives.cpp -------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every reshard:
//   1. `findMesh`: the mesh that source and target are both on.
//   2. `readProblem`: the layouts before and after, on sizes that both divide.
//   3. ReshardPlanner: the steps between them.
//   4. `buildPlan`: each step as a collective, the last one with the reshard's
//      sharding.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
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
  LogicalResult findMesh();
  FailureOr<ReshardProblem> readProblem();
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
  /// Null if neither side names an axis.
  sdy::MeshAttr mesh;
  Attribute meshOrRef;
};

LogicalResult ReshardLowering::run() {
  if (failed(findMesh()))
    return failure();
  Value value = op.getInput();
  if (!mesh && keepRedundant)
    return success();
  if (mesh) {
    FailureOr<ReshardProblem> problem = readProblem();
    if (failed(problem))
      return failure();
    std::string error;
    const ReshardPlan *plan = planner.plan(*problem, error);
    if (!plan)
      return op->emitOpError() << "has no chain of collectives from " << source
                               << " to " << target << ": " << error;
    if (plan->steps.empty() && keepRedundant)
      return success();
    value = buildPlan(builder, op.getLoc(), value, *plan, {mesh, meshOrRef},
                      op->getAttr(sdy::kCauseAttr));
  }
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

LogicalResult ReshardLowering::findMesh() {
  for (sdy::TensorShardingAttr sharding : {source, target}) {
    sdy::MeshAttr used = sharding ? sdy::getMesh(op, sharding) : nullptr;
    if (!used || used.isEmpty())
      continue;
    if (used.isMaximal() || (mesh && used != mesh))
      return op->emitOpError() << "is from " << source << " to " << target
                               << ", expected both on all devices of one mesh";
    mesh = used;
    meshOrRef = sharding.getMeshOrRef();
  }
  return success();
}

FailureOr<ReshardProblem> ReshardLowering::readProblem() {
  FailureOr<Layout> from = readLayout(source);
  FailureOr<Layout> to = readLayout(target);
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
    : impl::ReshardToCollectivesPassBase<ReshardToCollectivesPass> {
  using ReshardToCollectivesPassBase::ReshardToCollectivesPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    return loadDeviceModel(deviceModel, context, model);
  }

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

  std::shared_ptr<const DeviceModel> model;
};

} // namespace

} // namespace shardonnay
