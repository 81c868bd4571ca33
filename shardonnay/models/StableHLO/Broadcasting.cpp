//===- Broadcasting.cpp - functions of operands of several shapes ---------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/chlo/Chlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"

using namespace mlir;
using namespace mlir::chlo;
using namespace shardonnay;

/// The result's dims that those of `operand` become: the last ones, or, for the
/// operand of the smaller rank, those that the op names.
static SmallVector<int64_t> resultDims(Operation *op, Value operand) {
  int64_t rank = shapeOf(operand).size();
  int64_t resultRank = shapeOf(op->getResult(0)).size();
  auto named = op->getAttrOfType<DenseI64ArrayAttr>("broadcast_dimensions");
  if (named && rank < resultRank && named.size() == rank)
    return llvm::to_vector(named.asArrayRef());
  return llvm::to_vector(llvm::seq(resultRank - rank, resultRank));
}

/// A factor for each dim of the result, which the operands have that are not
/// repeated along it; a repeated dim of size 1 has one of its own.
static std::optional<FactorRule> broadcastingRule(Operation *op) {
  if (!hasStaticShapes(op))
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  SmallVector<int64_t> ranks;
  SmallVector<SmallVector<int64_t>> targets;
  for (Value operand : op->getOperands()) {
    ranks.push_back(shapeOf(operand).size());
    targets.push_back(resultDims(op, operand));
  }
  FactorRuleBuilder builder(ranks, {static_cast<int64_t>(shape.size())});
  for (auto [dim, size] : llvm::enumerate(shape)) {
    SmallVector<int64_t> sharing(ranks.size(), -1);
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      const auto *at = llvm::find(targets[i], static_cast<int64_t>(dim));
      if (at == targets[i].end())
        continue;
      int64_t source = at - targets[i].begin();
      if (shapeOf(operand)[source] == size) {
        sharing[i] = source;
        continue;
      }
      SmallVector<int64_t> alone(ranks.size(), -1);
      alone[i] = source;
      builder.add(1, alone, {-1});
    }
    builder.add(size, sharing, {static_cast<int64_t>(dim)});
  }
  return builder.build();
}

static bool hasOneShape(Operation *op) {
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  return llvm::all_of(op->getOperands(),
                      [&](Value v) { return shapeOf(v) == shape; });
}

namespace {
/// Where nothing is repeated, an element-wise function.
template <typename OpT>
struct BroadcastingModel
    : ShardingRuleOpInterface::ExternalModel<BroadcastingModel<OpT>, OpT> {
  std::optional<FactorRule> getFactorRule(Operation *op) const {
    return broadcastingRule(op);
  }
  PropagationClass getPropagationClass(Operation *op) const {
    return isElementwise(op) ? PropagationClass::PassThrough
                             : PropagationClass::Compute;
  }
  bool isElementwise(Operation *op) const {
    return hasStaticShapes(op) && hasOneShape(op);
  }
};
} // namespace

template <typename... OpTs>
static void attachBroadcasting(MLIRContext &context) {
  (OpTs::template attachInterface<BroadcastingModel<OpTs>>(context), ...);
  (attachClone<OpTs>(context), ...);
  attachConstantExpression<OpTs...>(context);
}

void shardonnay::attachChloBroadcastingModels(MLIRContext &context) {
  attachBroadcasting<
      BroadcastAddOp, BroadcastAndOp, BroadcastAtan2Op, BroadcastCompareOp,
      BroadcastComplexOp, BroadcastDivOp, BroadcastMaxOp, BroadcastMinOp,
      BroadcastMulOp, BroadcastNextAfterOp, BroadcastOrOp, BroadcastPolygammaOp,
      BroadcastPowOp, BroadcastRemOp, BroadcastSelectOp, BroadcastShiftLeftOp,
      BroadcastShiftRightArithmeticOp, BroadcastShiftRightLogicalOp,
      BroadcastSubOp, BroadcastXorOp, BroadcastZetaOp>(context);
}
