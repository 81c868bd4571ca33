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
//   4. `writeSource`: a collective's operand has a sharding on the mesh.
//   5. `emit`: each step as a collective, the last one with the reshard's
//      sharding.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/explain/DeviceModelOption.h"
#include "shardonnay/plan/ReshardPlan.h"
#include "shardonnay/transforms/collectives/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_RESHARDTOCOLLECTIVESPASS
#include "shardonnay/transforms/collectives/Passes.h.inc"

namespace {

class ReshardLowering {
public:
  ReshardLowering(sdy::ReshardOp op, const DeviceModel &model,
                  ReshardPlanner &planner)
      : op(op), model(model), planner(planner), builder(op),
        source(sdy::getSharding(op.getInput())), target(op.getSharding()) {}

  LogicalResult run();

private:
  LogicalResult findMesh();
  FailureOr<ReshardProblem> readProblem();
  /// The layout of the tensor under `sharding`.
  FailureOr<Layout> readLayout(sdy::TensorShardingAttr sharding);
  void writeSource();
  Value emit(Value input, const Step &step);

  sdy::AxisRefListAttr write(const AxisList &axes) {
    return sdy::AxisRefListAttr::get(op.getContext(),
                                     sdy::fromAxisList(axes, mesh));
  }
  /// `axes` in the place of `dim`.
  sdy::ListOfAxisRefListsAttr writeAt(int64_t dim, const AxisList &axes) {
    SmallVector<sdy::AxisRefListAttr> dims(op.getType().getRank(),
                                           write(AxisList()));
    dims[dim] = write(axes);
    return sdy::ListOfAxisRefListsAttr::get(op.getContext(), dims);
  }

  sdy::ReshardOp op;
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
  if (mesh) {
    FailureOr<ReshardProblem> problem = readProblem();
    if (failed(problem))
      return failure();
    std::string error;
    const ReshardPlan *plan = planner.plan(*problem, error);
    if (!plan)
      return op->emitOpError() << "has no chain of collectives from " << source
                               << " to " << target << ": " << error;
    if (!plan->steps.empty())
      writeSource();
    for (const Step &step : plan->steps) {
      value = emit(value, step);
      if (Attribute cause = op->getAttr(sdy::kCauseAttr))
        value.getDefiningOp()->setAttr(sdy::kCauseAttr, cause);
    }
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

void ReshardLowering::writeSource() {
  // What has none, or one on the empty mesh, is replicated.
  if (!source || sdy::getMesh(op, source) != mesh)
    sdy::setSharding(op.getInput(),
                     sdy::TensorShardingAttr::getFullyClosed(
                         op.getContext(), op.getType().getRank(), meshOrRef));
}

Value ReshardLowering::emit(Value input, const Step &step) {
  Location loc = op.getLoc();
  Type type = op.getType();
  sdy::TensorShardingAttr after =
      sdy::fromSharding(step.after.toSharding(), meshOrRef, mesh);
  switch (step.kind) {
  case StepKind::Slice:
    return sdy::AllSliceOp::create(builder, loc, type, input,
                                   writeAt(step.dim, step.axes), after);
  case StepKind::Permute:
    return sdy::CollectivePermuteOp::create(builder, loc, type, input, after);
  case StepKind::AllGather:
    return sdy::AllGatherOp::create(builder, loc, type, input,
                                    writeAt(step.dim, step.axes), after);
  case StepKind::AllToAll: {
    auto move = sdy::AllToAllParamAttr::get(op.getContext(),
                                            sdy::fromAxisList(step.axes, mesh),
                                            step.dim, step.targetDim);
    return sdy::AllToAllOp::create(
        builder, loc, type, input,
        sdy::AllToAllParamListAttr::get(op.getContext(), move), after);
  }
  case StepKind::ReduceScatter:
    return sdy::ReduceScatterOp::create(builder, loc, type, input,
                                        writeAt(step.dim, step.axes), after,
                                        step.reduction);
  case StepKind::AllReduce:
    return sdy::AllReduceOp::create(builder, loc, type, input, write(step.axes),
                                    after, step.reduction);
  }
  llvm_unreachable("all kinds are handled");
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
      ok &= succeeded(ReshardLowering(op, *model, planner).run());
    });
    if (!ok)
      signalPassFailure();
  }

  std::shared_ptr<const DeviceModel> model;
};

} // namespace

} // namespace shardonnay
