//===- PropagationRemarks.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/PropagationRemarks.h"
#include "shardonnay/dialect/sdy/Conversion.h"

using namespace mlir;

namespace shardonnay {

std::string describe(const ModuleGraph &module, int32_t tensor) {
  ShardedPlace place = placeOf(module, tensor);
  if (place.func)
    return llvm::formatv("function result {0}", place.result);
  // An edge stands for what it passes on.
  Value value = place.value;
  if (isa_and_present<sdy::DataFlowEdgeOp, sdy::FuncDataFlowEdgeOp>(
          value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return llvm::formatv("argument {0}", argument.getArgNumber());
  auto result = cast<OpResult>(value);
  return llvm::formatv("result {0} of {1}", result.getResultNumber(),
                       result.getOwner()->getName());
}

Location locationOf(const ModuleGraph &module, int32_t tensor) {
  ShardedPlace place = placeOf(module, tensor);
  return place.func ? place.func.getLoc() : place.value.getLoc();
}

std::string axisText(const ModuleGraph &module, int32_t tensor, int32_t other,
                     const AxisList &axes) {
  if (module.graph.mesh(tensor) == kNone)
    tensor = other;
  std::string text;
  for (AxisRef axis : axes)
    text += (text.empty() ? "" : ", ") +
            axisKey(sdy::fromAxisRef(axis, module.meshOf(tensor)));
  return text;
}

static remark::RemarkOpts options(const ModuleGraph &module, int32_t tensor,
                                  StringRef name) {
  auto options = remark::RemarkOpts::name(name).category(kRemarkCategory);
  ShardedPlace place = placeOf(module, tensor);
  Operation *op = place.func ? place.func.getOperation()
                             : place.value.getParentBlock()->getParentOp();
  while (op && !isa<func::FuncOp>(op))
    op = op->getParentOp();
  return op ? options.function(cast<func::FuncOp>(op).getSymName()) : options;
}

static void emitTaken(remark::detail::RemarkEngine &engine,
                      const ModuleGraph &module, const AxisArrival &arrival) {
  using remark::metric;
  engine.emitOptimizationRemark(locationOf(module, arrival.tensor),
                                options(module, arrival.tensor, "AxisTaken"))
      << metric("Value", describe(module, arrival.tensor))
      << metric("Dim", arrival.dim)
      << metric("Axis", axisText(module, arrival.tensor, arrival.source,
                                 {arrival.axis}))
      << metric("Step", arrival.step)
      << metric("From", describe(module, arrival.source))
      << metric("FromDim", arrival.sourceDim)
      << metric("Origin", originName(module, arrival.origin))
      << metric("Priority", arrival.round)
      << metric("Level", levelName(arrival.level).str());
}

static void emitRefused(remark::detail::RemarkEngine &engine,
                        const ModuleGraph &module, const AxisRefused &refused) {
  using remark::metric;
  int32_t other = refused.source != kNone ? refused.source : refused.tensor;
  auto remark = engine.emitOptimizationRemarkMiss(
      locationOf(module, refused.tensor),
      options(module, refused.tensor, "AxisRefused"));
  remark << metric("Value", describe(module, refused.tensor))
         << metric("Dim", refused.dim)
         << metric("Axes",
                   axisText(module, refused.tensor, other, refused.axes))
         << metric("Conflict", toString(refused.reason).str())
         << metric("Rule", toString(refused.rule).str());
  if (refused.source != kNone)
    remark << metric("OfferedBy", describe(module, refused.source))
           << metric("OfferedByDim", refused.sourceDim);
  if (refused.winner != kNone)
    remark << metric("Winner", describe(module, refused.winner))
           << metric("WinnerDim", refused.winnerDim);
}

remark::detail::RemarkEngine *askForRemarks(const ModuleGraph &module) {
  remark::detail::RemarkEngine *engine = module.context()->getRemarkEngine();
  if (!engine)
    return nullptr;
  Location loc = module.location();
  auto options =
      remark::RemarkOpts::name("Propagation").category(kRemarkCategory);
  auto fill = [&](remark::detail::InFlightRemark remark) {
    if (!remark)
      return false;
    remark << remark::metric("Tensors", module.graph.numTensors())
           << remark::metric("Ops", module.graph.ops().size());
    return true;
  };
  return fill(engine->emitOptimizationRemark(loc, options)) ||
                 fill(engine->emitOptimizationRemarkMiss(loc, options))
             ? engine
             : nullptr;
}

void emitRemarks(remark::detail::RemarkEngine &engine,
                 const ModuleGraph &module, const PropagationRecord &record) {
  for (const AxisArrival &arrival : record.arrivals)
    if (arrival.step >= 0)
      emitTaken(engine, module, arrival);
  for (const AxisRefused &refused : record.refused)
    emitRefused(engine, module, refused);
}

} // namespace shardonnay
