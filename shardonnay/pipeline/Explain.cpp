//===- Explain.cpp --------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/pipeline/Explain.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "shardonnay/analysis/SourceLocation.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/pipeline/PropagationOrder.h"
#include "shardonnay/transforms/propagate/GroupShardings.h"
#include "shardonnay/transforms/propagate/PropagationRemarks.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace shardonnay {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kNameTag("shardonnay.name: ");

static Location withName(Location loc, StringRef name) {
  return FusedLoc::get({loc},
                       StringAttr::get(loc.getContext(), kNameTag + name),
                       loc.getContext());
}

/// The innermost name that `rememberNames` put there; empty if there is none.
static StringRef nameIn(Location loc) {
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return nameIn(call.getCallee());
  if (auto named = dyn_cast<NameLoc>(loc))
    return nameIn(named.getChildLoc());
  auto fused = dyn_cast<FusedLoc>(loc);
  if (!fused)
    return "";
  auto tag = dyn_cast_if_present<StringAttr>(fused.getMetadata());
  if (tag && tag.getValue().starts_with(kNameTag))
    return tag.getValue().drop_front(kNameTag.size());
  for (Location part : fused.getLocations())
    if (StringRef name = nameIn(part); !name.empty())
      return name;
  return "";
}

void rememberNames(ModuleOp module) {
  AsmState state(module);
  auto nameOf = [&](Value value) {
    std::string name;
    llvm::raw_string_ostream os(name);
    value.printAsOperand(os, state);
    return StringRef(name).split('#').first.str();
  };
  module.walk([&](Operation *op) {
    if (op->getNumResults() != 0)
      op->setLoc(withName(op->getLoc(), nameOf(op->getResult(0))));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(withName(argument.getLoc(), nameOf(argument)));
  });
}

//===----------------------------------------------------------------------===//
// The explanation
//===----------------------------------------------------------------------===//

namespace {
class Explainer {
public:
  Explainer(const ModuleGraph &module, const PropagationRecord &record)
      : module(module), arrivals(module.graph.numTensors()),
        refused(module.graph.numTensors()) {
    for (const AxisArrival &arrival : record.arrivals)
      arrivals[arrival.tensor].push_back(&arrival);
    for (const AxisRefused &entry : record.refused)
      refused[entry.tensor].push_back(&entry);
  }

  llvm::json::Value run() const {
    llvm::json::Array values;
    for (int32_t tensor : llvm::seq(module.graph.numTensors()))
      if (!arrivals[tensor].empty() || !refused[tensor].empty())
        values.push_back(explain(tensor));
    return values;
  }

private:
  /// "%5", "%2#1", "result 0"; empty for what import made.
  std::string nameOf(int32_t tensor) const {
    ShardedPlace place = placeOf(module, tensor);
    if (place.func)
      return llvm::formatv("result {0}", place.result);
    if (auto edge = place.value.getDefiningOp<sdy::DataFlowEdgeOp>())
      place.value = edge.getInput();
    std::string name = nameIn(place.value.getLoc()).str();
    auto result = dyn_cast<OpResult>(place.value);
    if (!name.empty() && result && result.getOwner()->getNumResults() > 1)
      name += llvm::formatv("#{0}", result.getResultNumber());
    return name;
  }

  std::string display(int32_t tensor) const {
    std::string name = nameOf(tensor);
    return name.empty() ? describe(module, tensor) : name;
  }

  std::string lineOf(Location loc) const { return getSourceLocation(loc).line; }

  /// Name and place of an op, or of what stands for a function's result.
  std::pair<std::string, std::string> opAt(GraphPlace place) const {
    if (place.isReturn)
      return {"return", ""};
    Operation *op = module.operation(place.op);
    return {op->getName().getStringRef().str(), lineOf(op->getLoc())};
  }

  llvm::json::Object explain(int32_t tensor) const {
    ShardedPlace place = placeOf(module, tensor);
    sdy::TensorShardingAttr sharding =
        place.func ? sdy::getFuncResultSharding(place.func, place.result)
                   : sdy::getSharding(place.value);
    Type type = place.func ? place.func.getResultTypes()[place.result]
                           : place.value.getType();
    std::string typeText, shardingText;
    llvm::raw_string_ostream(typeText) << type;
    if (sharding)
      llvm::raw_string_ostream(shardingText) << sharding;
    llvm::json::Array axes, refusals;
    if (module.graph.mesh(tensor) != kNone)
      for (auto [dim, entry] :
           llvm::enumerate(module.graph.sharding(tensor).dims))
        for (AxisRef axis : entry.axes)
          axes.push_back(explainAxis(tensor, dim, axis));
    for (const AxisRefused *entry : refused[tensor])
      refusals.push_back(explainRefusal(*entry));
    SourceLocation source = getSourceLocation(locationOf(module, tensor));
    return llvm::json::Object{
        {"name", nameOf(tensor)},  {"what", describe(module, tensor)},
        {"location", source.line}, {"source", source.name},
        {"type", typeText},        {"sharding", shardingText},
        {"axes", std::move(axes)}, {"refused", std::move(refusals)}};
  }

  /// The arrival of `axis` in a dim before step `before`.
  const AxisArrival *find(int32_t tensor, int32_t dim, AxisRef axis,
                          int32_t before) const {
    for (const AxisArrival *arrival : llvm::reverse(arrivals[tensor]))
      if (arrival->dim == dim && arrival->axis.overlaps(axis) &&
          arrival->step < before)
        return arrival;
    return nullptr;
  }

  llvm::json::Object explainAxis(int32_t tensor, int32_t dim,
                                 AxisRef axis) const {
    llvm::json::Array steps;
    int32_t origin = tensor;
    const AxisArrival *arrival =
        find(tensor, dim, axis, std::numeric_limits<int32_t>::max());
    while (arrival) {
      origin = arrival->origin;
      if (arrival->step < 0)
        break;
      auto [op, line] = opAt(arrival->place);
      steps.push_back(llvm::json::Object{{"step", arrival->step},
                                         {"op", op},
                                         {"location", line},
                                         {"from", display(arrival->source)},
                                         {"from_dim", arrival->sourceDim}});
      arrival = find(arrival->source, arrival->sourceDim, axis, arrival->step);
    }
    return llvm::json::Object{
        {"dim", dim},
        {"axis", axisText(module, tensor, tensor, {axis})},
        {"origin", originName(module, origin)},
        {"given_on", display(origin)},
        {"steps", std::move(steps)}};
  }

  llvm::json::Object explainRefusal(const AxisRefused &entry) const {
    int32_t other = entry.source == kNone ? entry.tensor : entry.source;
    auto [op, line] = opAt(entry.place);
    llvm::json::Object result{
        {"dim", entry.dim},
        {"axes", axisText(module, entry.tensor, other, entry.axes)},
        {"conflict", toString(entry.reason)},
        {"rule", toString(entry.rule)},
        {"op", op},
        {"location", line}};
    if (entry.source != kNone) {
      result["offered_by"] = display(entry.source);
      result["offered_by_dim"] = entry.sourceDim;
    }
    if (entry.winner != kNone) {
      result["winner"] = display(entry.winner);
      result["winner_dim"] = entry.winnerDim;
    }
    return result;
  }

  const ModuleGraph &module;
  std::vector<SmallVector<const AxisArrival *, 2>> arrivals;
  std::vector<SmallVector<const AxisRefused *, 0>> refused;
};
} // namespace

llvm::json::Value explainPropagation(ModuleOp module,
                                     const PipelineOptions &options,
                                     const DeviceModel &model) {
  nameOrigins(module);
  ModuleGraph graph = shareGroupShardings(module, /*keepOperations=*/true);
  PropagationRecorder recorder(graph.graph);
  readOrigins(graph, recorder);
  propagateByPrice(module, graph, options, model, &recorder);
  graph.write();
  PropagationRecord record = recorder.take();
  return Explainer(graph, record).run();
}

} // namespace shardonnay
