//===- VerifyUnreducedAxes.cpp --------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each op with a rule (others say themselves what they do with partial
// values), along each axis:
//   1. `verifyAppearing`: a partial result has a partial operand, or the axis
//      shards a reduced factor of an operand.
//   2. `verifyVanishing`: of a partial operand each result is partial.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/Callee.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/support/Diagnostics.h"
#include "shardonnay/transforms/export/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_VERIFYUNREDUCEDAXESPASS
#include "shardonnay/transforms/export/Passes.h.inc"

/// The axes along which `value` is partial.
static AxisList getUnreduced(Operation *op, Value value) {
  sdy::TensorShardingAttr sharding = sdy::getSharding(value);
  return sharding ? sdy::toAxisList(sharding.getUnreducedAxes(),
                                    sdy::getMesh(op, sharding))
                  : AxisList();
}

/// The axes along which results of `op` may be partial.
static AxisList getSources(Operation *op, const FactorRule &rule) {
  AxisList sources;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    sources.append(getUnreduced(op, operand).subtract(sources));
    sdy::TensorShardingAttr sharding = sdy::getSharding(operand);
    if (!sharding)
      continue;
    TensorSharding own = sdy::toSharding(sharding, sdy::getMesh(op, sharding));
    for (auto [dim, factors] : llvm::zip(own.dims, rule.operands[i].dims))
      if (llvm::any_of(factors,
                       [&](int32_t factor) { return !rule.inResults(factor); }))
        sources.append(dim.axes.subtract(sources));
  }
  return sources;
}

static LogicalResult verifyAppearing(Operation *op, const FactorRule &rule) {
  AxisList sources = getSources(op, rule);
  for (OpResult result : op->getResults())
    if (!getUnreduced(op, result).subtract(sources).empty()) {
      InFlightDiagnostic diag =
          op->emitOpError()
          << "result " << result.getResultNumber() << " is partial, "
          << sdy::getSharding(result)
          << ", expected an operand that is, or that is sharded where the op "
             "reduces";
      for (Value operand : op->getOperands())
        diag.attachNote(operand.getLoc()) << "this operand is made here";
      return diag;
    }
  return success();
}

static LogicalResult verifyVanishing(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    for (OpResult result : op->getResults())
      if (AxisList start = getUnreduced(op, operand.get());
          !start.subtract(getUnreduced(op, result)).empty() ||
          (!start.empty() && sdy::changesKind(sdy::getSharding(operand.get()),
                                              sdy::getSharding(result))))
        return pointAtOperand(
            op->emitOpError()
                << "operand " << operand.getOperandNumber() << " is partial, "
                << sdy::getSharding(operand.get()) << ", but result "
                << result.getResultNumber()
                << " is not so, expected a reshard between: only that adds up",
            operand.get(), "made here");
  return success();
}

/// The unreduced axes of `operand` are those of what it becomes, of one kind.
static LogicalResult verifyEnds(OpOperand &operand, sdy::TensorShardingAttr end,
                                StringRef what) {
  sdy::TensorShardingAttr start = sdy::getSharding(operand.get());
  auto axesOf = [](sdy::TensorShardingAttr sharding) {
    return sharding ? sharding.getUnreducedAxes()
                    : ArrayRef<sdy::AxisRefAttr>();
  };
  if (axesOf(start) == axesOf(end) && !sdy::changesKind(start, end))
    return success();
  InFlightDiagnostic diag = operand.getOwner()->emitOpError();
  auto describe = [&](sdy::TensorShardingAttr sharding) {
    if (axesOf(sharding).empty())
      diag << "whole";
    else
      diag << "partial, " << sharding;
  };
  diag << "operand " << operand.getOperandNumber() << " is ";
  describe(start);
  diag << ", but " << what << " is ";
  describe(end);
  diag << ", expected a reshard between";
  diag.attachNote(operand.get().getLoc()) << "made here";
  return diag;
}

/// Verifies all operands of `op`; `endOf` says what each becomes.
static LogicalResult
verifyAllEnds(Operation *op, StringRef what,
              llvm::function_ref<sdy::TensorShardingAttr(OpOperand &)> endOf) {
  for (OpOperand &operand : op->getOpOperands())
    if (failed(verifyEnds(operand, endOf(operand), what)))
      return failure();
  return success();
}

static LogicalResult verifyCall(func::CallOp call) {
  func::FuncOp callee = sdy::getCalleeWithBody(call);
  if (!callee)
    return success();
  if (failed(verifyAllEnds(
          call, "the function's argument", [&](OpOperand &operand) {
            return sdy::getSharding(
                callee.getArgument(operand.getOperandNumber()));
          })))
    return failure();
  for (OpResult result : call->getResults()) {
    sdy::TensorShardingAttr made =
        sdy::getFuncResultSharding(callee, result.getResultNumber());
    AxisList axes = made ? sdy::toAxisList(made.getUnreducedAxes(),
                                           sdy::getMesh(callee, made))
                         : AxisList();
    if (getUnreduced(call, result) != axes)
      return pointAt(
          call->emitOpError()
              << "result " << result.getResultNumber()
              << " is partial along other axes than the function's result, "
                 "expected the same",
          callee.getLoc(), "the function is defined here");
  }
  return success();
}

/// `op` adds up what is partial, by its operand's sharding or by what makes it.
static LogicalResult verifyAllReduce(sdy::AllReduceOp op) {
  AxisList axes = sdy::toAxisList(op.getReductionAxes().getValue(),
                                  sdy::getMesh(op, op.getOutSharding()));
  axes = axes.subtract(getUnreduced(op, op.getTensor()));
  Operation *source = op.getTensor().getDefiningOp();
  std::optional<FactorRule> rule =
      source ? sdy::getComputationRule(source) : std::nullopt;
  if (rule)
    axes = axes.subtract(getSources(source, *rule));
  // What an op without a rule computes is not known.
  if (axes.empty() || (source && !rule &&
                       !isa_and_present<sdy::SdyDialect>(source->getDialect())))
    return success();
  InFlightDiagnostic diag =
      op->emitOpError("adds up a whole value, expected a partial one");
  diag.attachNote(op.getTensor().getLoc()) << "made here";
  return diag;
}

static LogicalResult verifyOp(Operation *op) {
  if (isa<func::ReturnOp>(op)) {
    auto func = op->getParentOfType<func::FuncOp>();
    return verifyAllEnds(op, "the function's result", [&](OpOperand &operand) {
      return sdy::getFuncResultSharding(func, operand.getOperandNumber());
    });
  }
  if (auto call = dyn_cast<func::CallOp>(op))
    return verifyCall(call);
  if (auto reduce = dyn_cast<sdy::AllReduceOp>(op))
    return verifyAllReduce(reduce);
  if (isa<ShardableDataFlowOpInterface>(op) ||
      (op->hasTrait<OpTrait::IsTerminator>() &&
       isa<ShardableDataFlowOpInterface>(op->getParentOp())))
    return verifyAllEnds(op, "what it flows into", [](OpOperand &operand) {
      return sdy::getClassSharding(operand);
    });
  std::optional<FactorRule> rule = sdy::getComputationRule(op);
  return success(!rule || (succeeded(verifyAppearing(op, *rule)) &&
                           succeeded(verifyVanishing(op))));
}

namespace {
struct VerifyUnreducedAxesPass
    : impl::VerifyUnreducedAxesPassBase<VerifyUnreducedAxesPass> {
  void runOnOperation() override {
    WalkResult walked = getOperation().walk(
        [](Operation *op) { return WalkResult(verifyOp(op)); });
    if (walked.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace shardonnay
