//===- Combiner.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/Upstream/Combiner.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;

namespace shardonnay::upstream {

static std::optional<ReductionKind> kindOf(Operation *op) {
  bool isBoolean = op->getResult(0).getType().isInteger(1);
  if (isBoolean) {
    if (isa<arith::OrIOp>(op))
      return ReductionKind::Max;
    if (isa<arith::AndIOp>(op))
      return ReductionKind::Min;
    return std::nullopt;
  }
  if (isa<arith::AddFOp, arith::AddIOp, complex::AddOp>(op))
    return ReductionKind::Sum;
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(op))
    return ReductionKind::Max;
  if (isa<arith::MinimumFOp, arith::MinSIOp>(op))
    return ReductionKind::Min;
  return std::nullopt;
}

/// The one op that combines result `number`, and what it combines into it.
static std::pair<Operation *, Value> matchCombiner(linalg::LinalgOp op,
                                                   unsigned number) {
  SmallVector<Operation *> ops;
  Value combined = matchReduction(op.getRegionOutputArgs(), number, ops);
  if (!combined || ops.size() != 1)
    return {};
  return {ops.front(), combined};
}

std::optional<ReductionKind> combinerOf(linalg::LinalgOp op) {
  std::optional<ReductionKind> common;
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    Operation *combiner = matchCombiner(op, i).first;
    std::optional<ReductionKind> kind =
        combiner ? kindOf(combiner) : std::nullopt;
    if (!kind || (common && common != kind))
      return std::nullopt;
    common = kind;
  }
  return common;
}

/// `value` is an element of an operand with `loop`, perhaps of another type.
static bool isElementOf(linalg::LinalgOp op, unsigned loop, Value value) {
  while (Operation *cast = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(cast))
      return false;
    value = cast->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == op.getBlock() &&
         op.getMatchingIndexingMap(op.getMatchingOpOperand(argument))
             .isFunctionOfDim(loop);
}

bool ignoresNeutralElements(linalg::LinalgOp op, unsigned loop) {
  std::optional<ReductionKind> kind = combinerOf(op);
  if (!kind)
    return false;
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    Value combined = matchCombiner(op, i).second;
    // A neutral element of a wider type is not the one of a narrow type, unless
    // it is zero.
    if (isElementOf(op, loop, combined) &&
        (*kind == ReductionKind::Sum || isa<BlockArgument>(combined)))
      continue;
    Operation *product = combined.getDefiningOp();
    if (*kind != ReductionKind::Sum || !product ||
        !isa<arith::MulFOp, arith::MulIOp, complex::MulOp>(product) ||
        !isElementOf(op, loop, product->getOperand(0)) ||
        !isElementOf(op, loop, product->getOperand(1)))
      return false;
  }
  return true;
}

} // namespace shardonnay::upstream
