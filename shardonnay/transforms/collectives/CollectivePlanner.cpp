//===- CollectivePlanner.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/collectives/CollectivePlanner.h"

#include "shardonnay/analysis/CollectiveUses.h"
#include "shardonnay/analysis/DeviceModelOption.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/interfaces/CarriedValue.h"
#include "shardonnay/interfaces/DataFlowEdge.h"

using namespace mlir;

namespace shardonnay {

sdy::NamedMesh getNamedMesh(Operation *collective) {
  return sdy::NamedMesh::of(collective,
                            sdy::getSharding(collective->getResult(0)));
}

Operation *getPlannedCollective(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<sdy::AllGatherOp, sdy::AllSliceOp, sdy::AllToAllOp,
                       sdy::CollectivePermuteOp, sdy::AllReduceOp,
                       sdy::ReduceScatterOp>(op))
    return nullptr;
  sdy::NamedMesh named = getNamedMesh(op);
  if (!named.mesh || named.mesh.isMaximal() ||
      !cast<RankedTensorType>(value.getType()).hasStaticShape())
    return nullptr;
  sdy::TensorShardingAttr in = sdy::getSharding(op->getOperand(0));
  if (in && in.getMeshOrRef() != named.name && !in.isReplicated() &&
      sdy::getMesh(op, in) != named.mesh)
    return nullptr;
  AxisList reduced;
  if (auto reduce = dyn_cast<sdy::AllReduceOp>(op))
    reduced = toAxisList(reduce.getReductionAxes().getValue(), named.mesh);
  if (auto scatter = dyn_cast<sdy::ReduceScatterOp>(op))
    for (sdy::AxisRefListAttr list : scatter.getReduceScatterAxes().getValue())
      reduced.append(toAxisList(list.getValue(), named.mesh));
  if (reduced.empty())
    return op;
  TensorSharding source = named.readClosed(op->getOperand(0));
  bool isStated = llvm::all_of(
      reduced, [&](AxisRef axis) { return source.unreduced.covers(axis); });
  return isStated ? op : nullptr;
}

double countRuns(Operation *op) {
  double runs = 1;
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isLoop(parent))
      runs *= sdy::countTrips(parent);
  return runs;
}

ModelPlans &SharedPlans::get(StringRef name,
                             const std::shared_ptr<const DeviceModel> &model) {
  std::unique_ptr<ModelPlans> &entry = entries[name];
  if (!entry)
    entry.reset(new ModelPlans{model});
  return *entry;
}

const MeshCosts &CollectivePlanner::costs(sdy::MeshAttr mesh) {
  std::unique_ptr<MeshCosts> &known = meshCosts[mesh];
  if (!known)
    known = std::make_unique<MeshCosts>(toMeshCosts(model, mesh));
  return *known;
}

/// What `op` sends; a slice sends nothing.
static SmallVector<LocalCollective> simulate(Operation *op) {
  auto collective = dyn_cast<sdy::CollectiveOpInterface>(op);
  if (!collective || isa<sdy::AllSliceOp, sdy::ShardedToUnreducedOp>(op))
    return {};
  // A permute may come from a mesh of another order.
  Value operand = op->getOperand(0);
  sdy::NamedMesh mesh = getNamedMesh(op);
  sdy::TensorShardingAttr source = sdy::getSharding(operand);
  if (sdy::MeshAttr from = source ? sdy::getMesh(op, source) : nullptr;
      from && from.hasSameAxes(mesh.mesh))
    mesh = {from, source.getMeshOrRef()};
  return simulateCollective(
      collective, mesh.mesh, mesh.readClosed(operand),
      sdy::getElementBytes(cast<RankedTensorType>(operand.getType())));
}

Cost CollectivePlanner::cost(Operation *op) {
  Cost sum;
  for (const LocalCollective &collective : simulate(op))
    sum += collective.cost;
  return sum;
}

double CollectivePlanner::price(Operation *op) {
  double sum = 0;
  for (const LocalCollective &collective : simulate(op))
    sum += collective.price(costs(getNamedMesh(op).mesh));
  return sum;
}

const ReshardPlan *CollectivePlanner::plan(RankedTensorType type,
                                           const TensorSharding &from,
                                           const TensorSharding &to,
                                           sdy::MeshAttr mesh) {
  ArrayRef<int64_t> shape = type.getShape();
  std::string error;
  return planner.plan(realProblem(sdy::toMesh(mesh), Layout::get(from, shape),
                                  Layout::get(to, shape), shape,
                                  sdy::getElementBytes(type), costs(mesh)),
                      error);
}

namespace {

/// Writes steps as collectives.
class StepWriter {
public:
  StepWriter(OpBuilder &builder, Location loc, Type type,
             const sdy::NamedMesh &mesh)
      : builder(builder), loc(loc), type(cast<RankedTensorType>(type)),
        mesh(mesh) {}

  Value write(Value input, const Step &step);

private:
  /// `axes` in the place of `dim`.
  sdy::ListOfAxisRefListsAttr writeAt(int64_t dim, const AxisList &axes) {
    SmallVector<sdy::AxisRefListAttr> dims(type.getRank(),
                                           mesh.write(AxisList()));
    dims[dim] = mesh.write(axes);
    return sdy::ListOfAxisRefListsAttr::get(builder.getContext(), dims);
  }

  OpBuilder &builder;
  Location loc;
  RankedTensorType type;
  const sdy::NamedMesh &mesh;
};

Value StepWriter::write(Value input, const Step &step) {
  sdy::TensorShardingAttr after = mesh.write(step.after.toSharding());
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
    auto move = sdy::AllToAllParamAttr::get(
        builder.getContext(), sdy::fromAxisList(step.axes, mesh.mesh), step.dim,
        step.targetDim);
    return sdy::AllToAllOp::create(
        builder, loc, type, input,
        sdy::AllToAllParamListAttr::get(builder.getContext(), move), after);
  }
  case StepKind::ReduceScatter:
    return sdy::ReduceScatterOp::create(builder, loc, type, input,
                                        writeAt(step.dim, step.axes), after,
                                        step.reduction);
  case StepKind::AllReduce:
    return sdy::AllReduceOp::create(builder, loc, type, input,
                                    mesh.write(step.axes), after,
                                    step.reduction);
  }
  llvm_unreachable("all kinds are handled");
}

} // namespace

Value buildPlan(OpBuilder &builder, Location loc, Value input,
                const ReshardPlan &plan, const sdy::NamedMesh &mesh,
                Attribute cause) {
  sdy::TensorShardingAttr source = sdy::getSharding(input);
  // What has none, or one on the empty mesh, is replicated; a collective's
  // operand says so on the mesh.
  Operation *at = builder.getInsertionBlock()->getParentOp();
  if (!plan.steps.empty() && (!source || sdy::getMesh(at, source) != mesh.mesh))
    sdy::setSharding(
        input,
        mesh.replicated(cast<RankedTensorType>(input.getType()).getRank()));
  StepWriter writer(builder, loc, input.getType(), mesh);
  Value value = input;
  for (const Step &step : plan.steps) {
    value = writer.write(value, step);
    if (cause)
      value.getDefiningOp()->setAttr(sdy::kCauseAttr, cause);
  }
  return value;
}

} // namespace shardonnay
