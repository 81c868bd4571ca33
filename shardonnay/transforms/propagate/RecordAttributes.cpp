//===- RecordAttributes.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/RecordAttributes.h"
#include "mlir/IR/Builders.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringMap.h"
#include <map>

using namespace mlir;

namespace shardonnay {

ShardedPlace placeOf(const ModuleGraph &module, int32_t tensor) {
  if (auto result = module.functionResult(tensor))
    return {Value(), result->func, result->index};
  return {module.value(tensor)};
}

/// The op whose constraint `value` carries, and which of its operands (of block
/// arguments) or results `value` stands for.
static std::pair<Operation *, unsigned> constrainedOp(Value value) {
  if (auto edge = value.getDefiningOp<sdy::DataFlowEdgeOp>())
    value = edge.getInput();
  if (auto result = dyn_cast<OpResult>(value))
    return {result.getOwner(), result.getResultNumber()};
  auto argument = cast<BlockArgument>(value);
  return {argument.getOwner()->getParentOp(), argument.getArgNumber()};
}

std::string originName(const ModuleGraph &module, int32_t tensor) {
  ShardedPlace place = placeOf(module, tensor);
  if (place.func)
    return llvm::formatv("output: {0}", place.result);
  auto [op, index] = constrainedOp(place.value);
  if (isa<func::FuncOp>(op))
    return llvm::formatv("input: {0}", index);
  std::string name = getOrMakeOriginName(op).str();
  if (isa<sdy::ShardingConstraintOp>(op))
    return name;
  if (isa<sdy::ManualComputationOp>(op)) {
    auto edge = place.value.getDefiningOp<sdy::DataFlowEdgeOp>();
    bool isInput = isa<BlockArgument>(edge ? edge.getInput() : place.value);
    name += isInput ? "_input" : "_output";
  }
  return llvm::formatv("{0}: {1}", name, index);
}

void readOrigins(const ModuleGraph &module, PropagationRecorder &recorder) {
  const PropagationGraph &graph = module.graph;
  llvm::StringMap<int32_t> constraints;
  for (int32_t tensor : llvm::seq(graph.numTensors()))
    if (Value value = module.value(tensor))
      if (auto op = value.getDefiningOp<sdy::ShardingConstraintOp>())
        if (auto name = op->getAttrOfType<StringAttr>(kOriginNameAttr))
          constraints[name] = tensor;
  for (int32_t tensor : llvm::seq(graph.numTensors())) {
    if (module.giver(tensor) != tensor)
      for (const DimSharding &dim : graph.sharding(tensor).dims)
        for (AxisRef axis : dim.axes)
          recorder.setOrigin(tensor, axis, module.giver(tensor));
    DictionaryAttr origins = getOrigins(placeOf(module, tensor));
    if (!origins || graph.mesh(tensor) == kNone)
      continue;
    for (const DimSharding &dim : graph.sharding(tensor).dims)
      for (AxisRef axis : dim.axes) {
        auto name = origins.getAs<StringAttr>(
            axisKey(sdy::fromAxisRef(axis, module.meshOf(tensor))));
        auto found = name ? constraints.find(name) : constraints.end();
        if (found != constraints.end())
          recorder.setOrigin(tensor, axis, found->second);
      }
  }
}

void writeOrigins(const ModuleGraph &module, const PropagationRecord &record) {
  const PropagationGraph &graph = module.graph;
  Builder builder(module.context());
  // By tensor. Of an axis that came in parts the one that came last.
  std::vector<std::map<AxisRef, int32_t>> origins(graph.numTensors());
  for (const AxisArrival &arrival : record.arrivals)
    for (AxisRef axis : graph.sharding(arrival.tensor).dims[arrival.dim].axes)
      if (axis.overlaps(arrival.axis))
        origins[arrival.tensor][axis] = arrival.origin;
  for (auto [index, axes] : llvm::enumerate(origins)) {
    if (axes.empty())
      continue;
    int32_t tensor = index;
    NamedAttrList entries;
    for (auto [axis, origin] : axes)
      entries.set(axisKey(sdy::fromAxisRef(axis, module.meshOf(tensor))),
                  builder.getStringAttr(
                      origin == tensor ? "self" : originName(module, origin)));
    setOrigins(placeOf(module, tensor),
               entries.getDictionary(module.context()));
  }
}

/// The operand or result of `op` that tensor `slot` of its rule is. What flows
/// into an edge comes through its one operand.
static sdy::EdgeValueRefAttr valueRef(MLIRContext *context, Operation *op,
                                      int32_t slot, int32_t numOperands) {
  if (slot >= numOperands)
    return sdy::EdgeValueRefAttr::get(context, sdy::EdgeNodeType::RESULT,
                                      slot - numOperands);
  return sdy::EdgeValueRefAttr::get(
      context, sdy::EdgeNodeType::OPERAND,
      isa_and_present<sdy::DataFlowEdgeOp>(op) ? 0 : slot);
}

namespace {
/// One axis in one step.
struct Movement {
  sdy::AxisRefAttr axis;
  sdy::EdgeValueRefAttr source;
  SmallVector<sdy::EdgeValueRefAttr> targets;
};
} // namespace

static sdy::PropagationOneStepAttr makeStep(const ModuleGraph &module,
                                            ArrayRef<AxisArrival> arrivals) {
  GraphPlace place = arrivals[0].place;
  const OpArray &ops =
      place.isReturn ? module.graph.returns() : module.graph.ops();
  int32_t numOperands =
      module.graph.form(ops.form(place.op)).rule->operands.size();
  Operation *op = place.isReturn ? nullptr : module.operation(place.op);
  MLIRContext *context = module.context();
  std::map<std::pair<AxisRef, int32_t>, Movement> movements;
  for (const AxisArrival &arrival : arrivals) {
    if (arrival.slot < 0)
      continue;
    Movement &movement = movements[{arrival.axis, arrival.sourceSlot}];
    movement.axis =
        sdy::fromAxisRef(arrival.axis, module.meshOf(arrival.tensor));
    movement.source = valueRef(context, op, arrival.sourceSlot, numOperands);
    auto target = valueRef(context, op, arrival.slot, numOperands);
    if (!llvm::is_contained(movement.targets, target) &&
        target != movement.source)
      movement.targets.push_back(target);
  }
  SmallVector<sdy::AxisToPropagationDetailsAttr> entries;
  for (auto &[key, movement] : movements)
    if (!movement.targets.empty()) {
      llvm::sort(movement.targets, [](auto a, auto b) {
        return std::pair(a.getType(), a.getIndex()) <
               std::pair(b.getType(), b.getIndex());
      });
      entries.push_back(sdy::AxisToPropagationDetailsAttr::get(
          context, movement.axis, movement.source, movement.targets));
    }
  return entries.empty() ? sdy::PropagationOneStepAttr()
                         : sdy::PropagationOneStepAttr::get(
                               context, arrivals[0].step, entries);
}

void writeEdges(const ModuleGraph &module, const PropagationRecord &record) {
  ArrayRef<AxisArrival> rest(record.arrivals);
  while (!rest.empty()) {
    int32_t step = rest[0].step;
    ArrayRef<AxisArrival> arrivals = rest.take_while(
        [&](const AxisArrival &arrival) { return arrival.step == step; });
    rest = rest.drop_front(arrivals.size());
    if (step < 0)
      continue;
    sdy::PropagationOneStepAttr attr = makeStep(module, arrivals);
    if (!attr)
      continue;
    GraphPlace place = arrivals[0].place;
    if (!place.isReturn) {
      addStep(module.operation(place.op), attr);
      continue;
    }
    auto result =
        module.functionResult(module.graph.returns().tensors(place.op).back());
    addStep(result->func, result->index, attr);
  }
}

} // namespace shardonnay
