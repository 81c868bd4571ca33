//===- Report.cpp - what a partitioned program costs ----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/report/Report.h"

#include "shardonnay/algebra/Counts.h"

#include "shardonnay/analysis/CollectiveUses.h"
#include "shardonnay/analysis/ComputePrice.h"
#include "shardonnay/analysis/PeakMemory.h"
#include "shardonnay/analysis/SourceLocation.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
namespace json = llvm::json;

namespace shardonnay {

namespace {

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

/// The cause of a collective that no reshard became, and no op asked for.
constexpr llvm::StringLiteral kWritten =
    "written in the program; no other plan: it is given";

/// The cause of a collective in a manual computation.
constexpr llvm::StringLiteral kWrittenByUser =
    "written by the user in a manual computation; no other plan: it is given";

/// Why it is there.
llvm::StringRef causeOf(const CollectiveUse &use) {
  if (!use.written.empty())
    return kWrittenByUser;
  auto cause = use.op->getAttrOfType<StringAttr>(sdy::kCauseAttr);
  return cause ? cause.getValue() : llvm::StringRef(kWritten);
}

llvm::StringRef kindOf(const CollectiveUse &use) {
  return use.written.empty() ? toString(use.collective.kind) : use.written;
}

/// Equal keys are one entry of the report.
std::string keyOf(const CollectiveUse &use) {
  std::string text;
  llvm::raw_string_ostream(text)
      << kindOf(use) << use.written.empty() << use.collective.axes
      << use.reduction << use.op->getOperand(0).getType()
      << use.op->getResult(0).getType() << use.trips.count << use.trips.known
      << getSourceLocation(use.op->getLoc()).line
      << use.op->getAttr(sdy::kCauseAttr);
  return text;
}

struct CollectiveGroup {
  const CollectiveUse *first = nullptr;
  int64_t count = 0;
  int64_t bytes = 0;

  json::Object toJson() const {
    Operation *op = first->op;
    SourceLocation source = getSourceLocation(op->getLoc());
    json::Array axes;
    for (sdy::AxisRefAttr axis :
         fromAxisList(first->collective.axes, first->mesh))
      axes.push_back(toText(axis));
    return json::Object{{"kind", kindOf(*first).str()},
                        {"axes", std::move(axes)},
                        {"reduction", first->reduction.empty()
                                          ? json::Value(nullptr)
                                          : first->reduction},
                        {"source", source.line},
                        {"name", source.name},
                        {"cause", causeOf(*first).str()},
                        {"written", !first->written.empty()},
                        {"operand", toText(op->getOperand(0).getType())},
                        {"result", toText(op->getResult(0).getType())},
                        {"count", count},
                        {"bytes", bytes},
                        {"trips", first->trips.count},
                        {"trips_known", first->trips.known}};
  }
};

int64_t countDevices(ModuleOp module) {
  sdy::MeshOp mesh = sdy::getProgramMesh(module);
  return mesh ? mesh.getMesh().getNumDevices() : 1;
}

json::Object compare(int64_t global, int64_t perDevice) {
  return json::Object{{"global", global}, {"per_device", perDevice}};
}

json::Array groupCollectives(ArrayRef<CollectiveUse> uses) {
  llvm::MapVector<std::string, CollectiveGroup, llvm::StringMap<unsigned>>
      groups;
  for (const CollectiveUse &use : uses) {
    CollectiveGroup &group = groups[keyOf(use)];
    if (group.count == 0)
      group.first = &use;
    group.count += use.collective.count * use.calls;
    group.bytes = countSum(group.bytes,
                           countProduct(use.collective.cost.bytes, use.calls));
  }
  json::Array collectives;
  for (const auto &[key, group] : groups)
    collectives.push_back(group.toJson());
  return collectives;
}

json::Object toJson(const PlanCost &plan) {
  double gap = plan.bound > 0 ? plan.cost / plan.bound - 1 : 0;
  return json::Object{{"greedy", plan.greedy},
                      {"cost", plan.cost},
                      {"bound", plan.bound},
                      {"gap", gap},
                      {"moved", plan.moved}};
}

json::Object toJson(const OrderCost &order) {
  return json::Object{{"later", json::Array(order.later)},
                      {"carried", json::Array(order.carried)},
                      {"split", json::Array(order.split)},
                      {"price", order.price},
                      {"price_as_given", order.priceAsGiven}};
}

json::Object toJson(const PeakMemory &peak) {
  json::Array largest;
  for (Value value : ArrayRef(peak.live).take_front(kLargestValues))
    largest.push_back(
        json::Object{{"type", toText(value.getType())},
                     {"bytes", byteSize(value.getType())},
                     {"source", getSourceLocation(value.getLoc()).line}});
  return json::Object{
      {"op", peak.op ? peak.op->getName().getStringRef().str() : ""},
      {"source", peak.op ? getSourceLocation(peak.op->getLoc()).line : ""},
      {"largest", std::move(largest)}};
}

} // namespace

json::Value buildReport(ModuleOp module, const ReportBaseline &baseline,
                        const DeviceModel &model) {
  std::vector<CollectiveUse> uses = readCollectives(module);
  if (baseline.directWindows)
    countDirectWindows(uses);
  else
    countSharedWindows(uses);
  CommunicationCost cost = costOf(uses, model);
  double planned =
      baseline.planned.price + costOf(onlyWritten(uses), model).price;
  ProgramSummary local = summarize(module);
  const ProgramSummary &global = baseline.global;
  json::Object report{
      {"devices", countDevices(module)},
      {"collectives", groupCollectives(uses)},
      {"collective_bytes", cost.bytes},
      {"executed_bytes", cost.executedBytes},
      {"unknown_trips", cost.unknownTrips},
      {"price", json::Object{{"device_model", model.name},
                             {"planned", planned},
                             {"emitted", cost.price},
                             {"compute", findComputePrice(module, model)}}},
      {"plan", toJson(baseline.plan)},
      {"peak_bytes", compare(global.peakBytes, local.peakBytes)},
      {"peak", toJson(findPeakMemory(module))},
      {"argument_bytes", compare(global.argumentBytes, local.argumentBytes)},
      {"contraction_flops",
       compare(global.contractionFlops, local.contractionFlops)},
      {"shardings", json::Object{{"tensors", baseline.propagated.tensors},
                                 {"given", baseline.given.sharded},
                                 {"decided", baseline.propagated.sharded}}}};
  const OrderCost &order = baseline.order;
  if (!order.later.empty() || !order.carried.empty() || !order.split.empty())
    report["order"] = toJson(baseline.order);
  if (baseline.directWindows)
    report["window_bytes"] = directWindowBytes(uses);
  return report;
}

} // namespace shardonnay
