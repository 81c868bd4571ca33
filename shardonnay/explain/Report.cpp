//===- Report.cpp - what a partitioned program costs ----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/explain/Report.h"

#include "shardonnay/cost/Collective.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/spmd/Ops.h"
#include "shardonnay/explain/SourceLocation.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace json = llvm::json;

namespace shardonnay {

namespace {

/// One `spmd` op that communicates.
struct Collective {
  CollectiveKind kind;
  sdy::AxisRefListAttr axes;
  /// "" if nothing is reduced.
  llvm::StringRef reduction;
  SourceLocation source;
  RankedTensorType operand, result;
  int64_t count = 1;
  int64_t bytes = 0;
  /// Why it is there; "" if nobody said.
  std::string cause;

  /// Equal keys are one entry of the report.
  std::string key() const {
    std::string text;
    llvm::raw_string_ostream(text) << toString(kind) << axes << reduction
                                   << operand << result << source.line;
    return text;
  }
};

std::string toText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// x or x:(1)2.
std::string toText(sdy::AxisRefAttr axis) {
  std::string text = axis.toString();
  llvm::erase(text, '"');
  return text;
}

/// The axes that devices differ along which send each other data.
sdy::AxisRefListAttr axesOf(spmd::CollectivePermuteOp op, sdy::MeshAttr mesh) {
  AxisList touched;
  for (auto [from, to] :
       llvm::zip_equal(op.getSource().getValue(), op.getTarget().getValue()))
    if (from != to)
      for (sdy::AxisRefListAttr list : {from, to})
        for (AxisRef axis : toAxisList(list.getValue(), mesh))
          if (!touched.overlaps(axis))
            touched.append(axis);
  return sdy::AxisRefListAttr::get(op.getContext(),
                                   fromAxisList(touched.sorted(), mesh));
}
template <typename SpmdOp>
sdy::AxisRefListAttr axesOf(SpmdOp op, sdy::MeshAttr) {
  return op.getAxes();
}

sdy::AxisRefListAttr axesOf(spmd::FetchWindowOp op, sdy::MeshAttr) {
  return op.getAxesAttr();
}

/// All but the bytes.
template <typename SpmdOp>
Collective readAlike(SpmdOp op, sdy::MeshAttr mesh, CollectiveKind kind,
                     llvm::StringRef reduction) {
  Collective collective;
  collective.kind = kind;
  collective.axes = axesOf(op, mesh);
  collective.reduction = reduction;
  collective.source = getSourceLocation(op.getLoc());
  collective.operand = cast<RankedTensorType>(op->getOperand(0).getType());
  collective.result = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto cause = op->template getAttrOfType<StringAttr>(sdy::kCauseAttr))
    collective.cause = cause.str();
  return collective;
}

template <typename SpmdOp>
Collective read(SpmdOp op, CollectiveKind kind, llvm::StringRef reduction) {
  sdy::MeshAttr mesh = sdy::getMeshOp(op, op.getMeshAttr()).getMesh();
  Collective collective = readAlike(op, mesh, kind, reduction);
  int64_t groupSize = toAxisList(collective.axes.getValue(), mesh).numShards();
  collective.bytes =
      collectiveCost(kind, groupSize, byteSize(collective.operand)).bytes;
  return collective;
}

/// The permutes, or the gather, that a window is fetched by.
std::optional<Collective> readWindow(spmd::FetchWindowOp op) {
  if (op.cutAxes().empty())
    return std::nullopt;
  sdy::MeshAttr mesh = sdy::getMeshOp(op, op.getMeshAttr()).getMesh();
  WindowProblem problem = spmd::getWindowProblem(op, mesh);
  WindowPlan plan = planWindows(problem);
  if (plan.numCollectives() == 0)
    return std::nullopt;
  Collective collective = readAlike(
      op, mesh,
      plan.gathers ? CollectiveKind::AllGather : CollectiveKind::Permute, "");
  collective.count = plan.numCollectives();
  collective.bytes =
      byteSize(collective.operand) / problem.localSize * plan.received(problem);
  return collective;
}

/// Nothing for ops that do not communicate.
std::optional<Collective> readCollective(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Collective>>(op)
      .Case([](spmd::AllGatherOp op) {
        return read(op, CollectiveKind::AllGather, "");
      })
      .Case([](spmd::CollectivePermuteOp op) {
        return read(op, CollectiveKind::Permute, "");
      })
      .Case([](spmd::AllToAllOp op) {
        return read(op, CollectiveKind::AllToAll, "");
      })
      .Case([](spmd::AllReduceOp op) {
        return read(op, CollectiveKind::AllReduce, toString(op.getKind()));
      })
      .Case([](spmd::ReduceScatterOp op) {
        return read(op, CollectiveKind::ReduceScatter, toString(op.getKind()));
      })
      .Case([](spmd::FetchWindowOp op) { return readWindow(op); })
      .Default([](Operation *) { return std::nullopt; });
}

struct CollectiveGroup {
  Collective first;
  int64_t count = 0;
  int64_t bytes = 0;

  json::Object toJson() const {
    json::Array axes;
    for (sdy::AxisRefAttr axis : first.axes.getValue())
      axes.push_back(toText(axis));
    return json::Object{{"kind", toString(first.kind)},
                        {"axes", std::move(axes)},
                        {"reduction", first.reduction.empty()
                                          ? json::Value(nullptr)
                                          : first.reduction},
                        {"source", first.source.line},
                        {"name", first.source.name},
                        {"cause", first.cause},
                        {"operand", toText(first.operand)},
                        {"result", toText(first.result)},
                        {"count", count},
                        {"bytes", bytes}};
  }
};

int64_t countDevices(ModuleOp module) {
  sdy::MeshOp mesh = sdy::getProgramMesh(module);
  return mesh ? mesh.getMesh().getNumDevices() : 1;
}

json::Object compare(int64_t global, int64_t perDevice) {
  return json::Object{{"global", global}, {"per_device", perDevice}};
}

} // namespace

json::Value buildReport(ModuleOp module, const ReportBaseline &baseline) {
  llvm::MapVector<std::string, CollectiveGroup, llvm::StringMap<unsigned>>
      groups;
  int64_t bytes = 0;
  module.walk([&](Operation *op) {
    std::optional<Collective> collective = readCollective(op);
    if (!collective)
      return;
    CollectiveGroup &group = groups[collective->key()];
    if (group.count == 0)
      group.first = *collective;
    group.count += collective->count;
    group.bytes += collective->bytes;
    bytes += collective->bytes;
  });
  json::Array collectives;
  for (const auto &[key, group] : groups)
    collectives.push_back(group.toJson());

  ProgramSummary local = summarize(module);
  const ProgramSummary &global = baseline.global;
  return json::Object{
      {"devices", countDevices(module)},
      {"collectives", std::move(collectives)},
      {"collective_bytes", bytes},
      {"peak_bytes", compare(global.peakBytes, local.peakBytes)},
      {"argument_bytes", compare(global.argumentBytes, local.argumentBytes)},
      {"contraction_flops",
       compare(global.contractionFlops, local.contractionFlops)},
      {"shardings", json::Object{{"tensors", baseline.decided.tensors},
                                 {"given", baseline.given.sharded},
                                 {"decided", baseline.decided.sharded}}}};
}

} // namespace shardonnay
