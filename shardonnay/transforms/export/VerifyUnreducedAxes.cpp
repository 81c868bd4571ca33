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
//      cuts a reduced factor of an operand.
//   2. `verifyVanishing`: of a partial operand each result is partial.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/RuleAccess.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
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
    if (!getUnreduced(op, result).subtract(sources).empty())
      return op->emitOpError()
             << "result " << result.getResultNumber() << " is partial, "
             << sdy::getSharding(result)
             << ", expected an operand that is, or that is cut where the op "
                "reduces";
  return success();
}

static LogicalResult verifyVanishing(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    for (OpResult result : op->getResults())
      if (!getUnreduced(op, operand.get())
               .subtract(getUnreduced(op, result))
               .empty()) {
        InFlightDiagnostic diag =
            op->emitOpError()
            << "operand " << operand.getOperandNumber() << " is partial, "
            << sdy::getSharding(operand.get()) << ", but result "
            << result.getResultNumber()
            << " is not, expected a reshard between: only that adds up";
        diag.attachNote(operand.get().getLoc()) << "made here";
        return diag;
      }
  return success();
}

namespace {
struct VerifyUnreducedAxesPass
    : impl::VerifyUnreducedAxesPassBase<VerifyUnreducedAxesPass> {
protected:
  void runOnOperation() override {
    WalkResult walked = getOperation().walk([](Operation *op) {
      std::optional<FactorRule> rule = sdy::getComputationRule(op);
      if (!rule)
        return WalkResult::advance();
      return WalkResult(failure(failed(verifyAppearing(op, *rule)) ||
                                failed(verifyVanishing(op))));
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace shardonnay
