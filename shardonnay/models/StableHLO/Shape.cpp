//===- Shape.cpp - where elements come from -------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"
#include "shardonnay/models/StableHLO/Reshape.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

static int64_t rankOf(Value value) { return shapeOf(value).size(); }

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static std::optional<FactorRule> iotaRule(IotaOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOutput());
  FactorRuleBuilder builder({}, {static_cast<int64_t>(shape.size())});
  for (auto [dim, size] : llvm::enumerate(shape))
    builder.add(size, {}, {static_cast<int64_t>(dim)});
  return builder.build();
}

/// A dim of size 1 that is repeated has a factor of its own, as has the dim
/// that it becomes.
static std::optional<FactorRule> broadcastInDimRule(BroadcastInDimOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getOperand());
  ArrayRef<int64_t> to = shapeOf(op.getResult());
  FactorRuleBuilder builder({rankOf(op.getOperand())},
                            {rankOf(op.getResult())});
  for (int64_t dim = 0; dim < static_cast<int64_t>(to.size()); ++dim) {
    const auto *source = llvm::find(op.getBroadcastDimensions(), dim);
    int64_t operandDim = source == op.getBroadcastDimensions().end()
                             ? -1
                             : source - op.getBroadcastDimensions().begin();
    if (operandDim >= 0 && from[operandDim] != to[dim]) {
      builder.add(from[operandDim], {operandDim}, {-1});
      operandDim = -1;
    }
    builder.add(to[dim], {operandDim}, {dim});
  }
  return builder.build();
}

static std::optional<FactorRule> reshapeOpRule(ReshapeOp op) {
  if (op.getResult().getType().getNumElements() == 0)
    return std::nullopt;
  return reshapeRule(shapeOf(op.getOperand()), shapeOf(op.getResult()));
}

/// The parts of a wider element can't be on different devices.
static std::optional<FactorRule> bitcastConvertRule(BitcastConvertOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getOperand());
  ArrayRef<int64_t> to = shapeOf(op.getResult());
  int64_t fromRank = from.size(), toRank = to.size();
  FactorRuleBuilder builder({fromRank}, {toRank});
  for (int64_t dim = 0; dim < std::min(fromRank, toRank); ++dim)
    builder.add(from[dim], {dim}, {dim});
  if (fromRank > toRank)
    builder.add(from.back(), {toRank}, {-1}, FactorKind::NeedReplication);
  if (toRank > fromRank)
    builder.add(to.back(), {-1}, {fromRank}, FactorKind::NeedReplication);
  return builder.build();
}

static std::optional<FactorRule> transposeRule(TransposeOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  int64_t rank = shape.size();
  FactorRuleBuilder builder({rank}, {rank});
  for (auto [dim, source] : llvm::enumerate(op.getPermutation()))
    builder.add(shape[source], {source}, {static_cast<int64_t>(dim)});
  return builder.build();
}

//===----------------------------------------------------------------------===//
// Local computations
//===----------------------------------------------------------------------===//

/// The device's part of the count. It is counted in integers, so that a narrow
/// float rounds once, as it does in the whole.
static LocalResults iotaLocally(IotaOp op, OpBuilder &builder,
                                ValueRange operands, LocalContext &context) {
  int64_t dim = op.getIotaDimension();
  AxisList axes = axesOfDim(context, context.rule().results[0], dim);
  if (axes.empty())
    return cloneLocally(op, builder, operands, context);
  auto type = cast<RankedTensorType>(context.resultTypes()[0]);
  LocalMath math(builder, op.getLoc());
  IntegerType counter = math.positionType(shapeOf(op.getOutput())[dim]);
  auto countType = type.clone(counter);
  Value count = IotaOp::create(builder, op.getLoc(), countType, dim);
  Value start = math.shardStart(context, axes, type.getDimSize(dim), counter);
  count = math.add(count, math.broadcast(start, countType));
  return SmallVector<Value>{math.convert(count, type.getElementType())};
}

static LocalResults reshapeLocally(ReshapeOp op, OpBuilder &builder,
                                   ValueRange operands, LocalContext &context) {
  auto reshape = [&](RankedTensorType type, Value operand) -> Value {
    return ReshapeOp::create(builder, op.getLoc(), type, operand);
  };
  return SmallVector<Value>{
      reshapeInRows(builder, op.getLoc(), operands[0], context, reshape)};
}

void shardonnay::attachShapeModels(MLIRContext &context) {
  constexpr auto kPassThrough = PropagationClass::PassThrough;
  attachRule<IotaOp, iotaRule>(context);
  attachRule<BroadcastInDimOp, broadcastInDimRule,
             PropagationClass::BroadcastBackward>(context);
  attachRule<ReshapeOp, reshapeOpRule, kPassThrough>(context);
  attachRule<BitcastConvertOp, bitcastConvertRule>(context);
  attachRule<TransposeOp, transposeRule, kPassThrough>(context);

  attachLocal<IotaOp, iotaLocally>(context);
  attachClone<BroadcastInDimOp>(context);
  attachLocal<ReshapeOp, reshapeLocally>(context);
  attachClone<BitcastConvertOp>(context);
  attachClone<TransposeOp>(context);

  attachConstantExpression<IotaOp, BroadcastInDimOp, ReshapeOp,
                           BitcastConvertOp>(context);
}
