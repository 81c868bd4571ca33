//===- Windows.cpp - elements that move along a dim -----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slice, pad, reverse and concatenate. In a windowed dim that is cut, the
// device of index i has the result's positions [i * m, (i + 1) * m), m being
// the result's local size; it fetches the operand's positions that these come
// from, which lie in one window that moves by a fixed step from device to
// device, and has only an arrangement left to do.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static FactorKind windowedIf(bool windowed) {
  return windowed ? FactorKind::Windowed : FactorKind::PassThrough;
}

static std::optional<FactorRule> reverseRule(ReverseOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  int64_t rank = shape.size();
  FactorRuleBuilder builder({rank}, {rank});
  for (int64_t dim = 0; dim < rank; ++dim)
    builder.add(shape[dim], {dim}, {dim},
                windowedIf(llvm::is_contained(op.getDimensions(), dim)));
  return builder.build();
}

static std::optional<FactorRule> sliceRule(SliceOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getOperand());
  ArrayRef<int64_t> to = shapeOf(op.getResult());
  int64_t rank = from.size();
  FactorRuleBuilder builder({rank}, {rank});
  for (int64_t dim = 0; dim < rank; ++dim)
    builder.add(from[dim], {dim}, {dim}, windowedIf(from[dim] != to[dim]));
  return builder.build();
}

/// A stride has no meaning for one position.
static std::optional<FactorRule> pickingRule(SliceOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getOperand());
  ArrayRef<int64_t> to = shapeOf(op.getResult());
  if (!picksAny(from, to))
    return std::nullopt;
  int64_t rank = from.size();
  FactorRuleBuilder builder({rank}, {rank});
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (to[dim] == 1 && from[dim] > 1) {
      builder.add(from[dim], {dim}, {-1}, FactorKind::Indexed);
      builder.add(1, {-1}, {dim}, FactorKind::NeedReplication);
    } else {
      builder.add(from[dim], {dim}, {dim}, windowedIf(from[dim] != to[dim]));
    }
  }
  return builder.build();
}

/// Padding of -1 and 1 keeps the size, but moves every element.
static bool padsDim(PadOp op, int64_t dim) {
  return op.getEdgePaddingLow()[dim] != 0 ||
         op.getEdgePaddingHigh()[dim] != 0 ||
         shapeOf(op.getOperand())[dim] != shapeOf(op.getResult())[dim];
}

static std::optional<FactorRule> padRule(PadOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  int64_t rank = shape.size();
  FactorRuleBuilder builder({rank, 0}, {rank});
  for (int64_t dim = 0; dim < rank; ++dim)
    builder.add(shape[dim], {dim, -1}, {dim}, windowedIf(padsDim(op, dim)));
  return builder.build();
}

/// The operands are slices, or pieces of one value: a rotation or a padding
/// written as a concatenation.
static bool concatenatesSlices(ConcatenateOp op) {
  auto base = [](Value operand) {
    auto slice = operand.getDefiningOp<SliceOp>();
    return slice ? slice.getOperand() : operand;
  };
  auto isSlice = [](Value operand) {
    return operand.getDefiningOp<SliceOp>() != nullptr;
  };
  Value first = base(op.getInputs().front());
  return llvm::all_of(op.getInputs(), isSlice) ||
         (llvm::any_of(op.getInputs(), isSlice) &&
          llvm::all_of(op.getInputs(),
                       [&](Value operand) { return base(operand) == first; }));
}

static std::optional<FactorRule> concatenateRule(ConcatenateOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  int64_t rank = shape.size();
  FactorKind kind = concatenatesSlices(op) ? FactorKind::Windowed
                                           : FactorKind::NeedReplication;
  SmallVector<int64_t> ranks(op.getInputs().size(), rank);
  FactorRuleBuilder builder(ranks, {rank});
  for (int64_t dim = 0; dim < rank; ++dim)
    builder.add(shape[dim], SmallVector<int64_t>(ranks.size(), dim), {dim},
                dim == static_cast<int64_t>(op.getDimension())
                    ? kind
                    : FactorKind::PassThrough);
  return builder.build();
}

namespace {
struct ConcatenateRule
    : ShardingRuleOpInterface::ExternalModel<ConcatenateRule, ConcatenateOp> {
  std::optional<FactorRule> getFactorRule(Operation *op) const {
    return hasStaticShapes(op) ? concatenateRule(cast<ConcatenateOp>(op))
                               : std::nullopt;
  }
  bool looksAtOperands(Operation *) const { return true; }
  bool isLinear(Operation *op, ReductionKind kind,
                const llvm::SmallBitVector &partial) const {
    return shardonnay::isLinear(op, kind, partial);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Local computations
//===----------------------------------------------------------------------===//

/// The dims whose factor is windowed and cut.
static SmallVector<int64_t> cutWindows(LocalContext &context) {
  SmallVector<int64_t> dims;
  for (auto [dim, factors] : llvm::enumerate(context.rule().results[0].dims))
    if (context.rule().factors[factors.front()].kind == FactorKind::Windowed &&
        !context.factorAxes(factors.front()).empty())
      dims.push_back(dim);
  return dims;
}

static int64_t resultSize(LocalContext &context, int64_t dim) {
  return cast<RankedTensorType>(context.resultTypes()[0]).getDimSize(dim);
}

/// The window of operand number 0 of `op` in dim `dim`.
static Value fetch(Operation *op, OpBuilder &builder, LocalContext &context,
                   Value local, int64_t dim, int64_t start, int64_t step,
                   int64_t size, Value fill = Value()) {
  return context.fetchWindow(
      builder, op->getLoc(), local, dim, shapeOf(op->getOperand(0))[dim],
      axesOfDim(context, context.rule().operands[0], dim), start, step, size,
      fill);
}

/// Of a dim that is cut into pieces of `part`, and of which one position is
/// taken: whether this device has it. Null for other dims.
static Value isOwnerOf(SliceOp op, LocalMath &math, OpBuilder &builder,
                       LocalContext &context, int64_t dim, int64_t part) {
  const FactorRule &rule = context.rule();
  if (rule.factors[rule.operands[0].dims[dim].front()].kind !=
      FactorKind::Indexed)
    return nullptr;
  AxisList axes = axesOfDim(context, rule.operands[0], dim);
  if (axes.empty())
    return nullptr;
  Value index = context.deviceIndex(builder, op.getLoc(), axes);
  int64_t owner = op.getStartIndices()[dim] / part;
  return math.compare(
      index, math.splat(cast<RankedTensorType>(index.getType()), owner),
      ComparisonDirection::EQ);
}

/// A dim that is kept whole may be cut: its limit is the local size. Of one of
/// which one position is taken, the device that has it takes it.
static FailureOr<SmallVector<Value>> sliceLocally(SliceOp op,
                                                  OpBuilder &builder,
                                                  ValueRange operands,
                                                  LocalContext &context) {
  SmallVector<int64_t> starts(op.getStartIndices()),
      limits(op.getLimitIndices()), strides(op.getStrides());
  Value operand = operands[0];
  for (int64_t dim : cutWindows(context)) {
    int64_t size = resultSize(context, dim), stride = strides[dim];
    int64_t span = size == 0 ? 0 : (size - 1) * stride + 1;
    // Behind the limit nothing is needed, though the operand goes on: the first
    // row, cut by eight, is not the first eight rows.
    operand = context.fetchWindow(
        builder, op.getLoc(), operand, dim, op.getLimitIndices()[dim],
        axesOfDim(context, context.rule().operands[0], dim), starts[dim],
        size * stride, span, /*fill=*/Value());
    starts[dim] = 0;
    limits[dim] = span;
  }
  LocalMath math(builder, op.getLoc());
  Value mask;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getResult()))) {
    int64_t part = shapeOf(operand)[dim];
    if (size == shapeOf(op.getOperand())[dim])
      limits[dim] = part;
    else if (Value isOwner = isOwnerOf(op, math, builder, context, dim, part)) {
      mask = mask ? math.both(mask, isOwner) : isOwner;
      starts[dim] %= part;
      limits[dim] = starts[dim] + 1;
    }
  }
  Value result = cloneLocally(op, builder, operand, context)[0];
  auto local = result.getDefiningOp<SliceOp>();
  local.setStartIndices(starts);
  local.setLimitIndices(limits);
  if (!mask)
    return SmallVector<Value>{result};
  auto type = cast<RankedTensorType>(result.getType());
  mask = math.broadcast(mask, type.clone(builder.getI1Type()));
  return SmallVector<Value>{math.select(mask, result, math.sumIdentity(type))};
}

static FailureOr<SmallVector<Value>> reverseLocally(ReverseOp op,
                                                    OpBuilder &builder,
                                                    ValueRange operands,
                                                    LocalContext &context) {
  Value operand = operands[0];
  for (int64_t dim : cutWindows(context)) {
    int64_t size = resultSize(context, dim);
    operand = fetch(op, builder, context, operand, dim,
                    shapeOf(op.getOperand())[dim] - size, -size, size);
  }
  return cloneLocally(op, builder, operand, context);
}

/// Interior padding before the window: the piece with k elements behind each of
/// its own is a piece of the whole that is so padded, if those behind the end
/// are padding too.
static Value padInterior(PadOp op, OpBuilder &builder, LocalContext &context,
                         Value local, Value padding, int64_t dim) {
  int64_t size = shapeOf(local)[dim], k = op.getInteriorPadding()[dim];
  Value filled =
      fetch(op, builder, context, local, dim, 0, size, size, padding);
  SmallVector<int64_t> none(shapeOf(local).size(), 0), high(none),
      interior(none);
  high[dim] = size == 0 ? 0 : k;
  interior[dim] = k;
  return PadOp::create(builder, op.getLoc(), filled, padding, none, high,
                       interior);
}

static FailureOr<SmallVector<Value>> padLocally(PadOp op, OpBuilder &builder,
                                                ValueRange operands,
                                                LocalContext &context) {
  SmallVector<int64_t> low(op.getEdgePaddingLow()),
      high(op.getEdgePaddingHigh()), interior(op.getInteriorPadding());
  Value operand = operands[0], padding = operands[1];
  for (int64_t dim : cutWindows(context)) {
    AxisList axes = axesOfDim(context, context.rule().operands[0], dim);
    int64_t whole = shapeOf(op.getOperand())[dim];
    if (interior[dim] != 0) {
      operand = padInterior(op, builder, context, operand, padding, dim);
      whole = shapeOf(operand)[dim] * axes.numShards();
    }
    int64_t size = resultSize(context, dim);
    operand = context.fetchWindow(builder, op.getLoc(), operand, dim, whole,
                                  axes, -low[dim], size, size, padding);
    low[dim] = high[dim] = interior[dim] = 0;
  }
  Value result = cloneLocally(op, builder, {operand, padding}, context)[0];
  auto local = result.getDefiningOp<PadOp>();
  local.setEdgePaddingLow(low);
  local.setEdgePaddingHigh(high);
  local.setInteriorPadding(interior);
  return SmallVector<Value>{result};
}

/// Each operand's window where the device's part of the result would be; of
/// these, by position, the one that is there.
static FailureOr<SmallVector<Value>> concatenateLocally(ConcatenateOp op,
                                                        OpBuilder &builder,
                                                        ValueRange operands,
                                                        LocalContext &context) {
  int64_t dim = op.getDimension();
  AxisList axes = axesOfDim(context, context.rule().results[0], dim);
  if (axes.empty())
    return cloneLocally(op, builder, operands, context);
  LocalMath math(builder, op.getLoc());
  auto type = cast<RankedTensorType>(context.resultTypes()[0]);
  int64_t size = type.getDimSize(dim), offset = 0;
  IntegerType integer = math.positionType(shapeOf(op.getResult())[dim] + size);
  auto positionsType = RankedTensorType::get({size}, integer);
  Value start = math.shardStart(context, axes, size, integer);
  Value positions =
      math.add(IotaOp::create(builder, op.getLoc(), positionsType, 0),
               math.broadcast(start, positionsType));
  Value result;
  for (auto [input, local] : llvm::zip_equal(op.getInputs(), operands)) {
    int64_t inputSize = shapeOf(input)[dim];
    if (inputSize == 0)
      continue;
    Value window =
        context.fetchWindow(builder, op.getLoc(), local, dim, inputSize, axes,
                            -offset, size, size, /*fill=*/Value());
    if (result) {
      Value behind = math.compare(positions, math.splat(positionsType, offset),
                                  ComparisonDirection::GE);
      behind = math.broadcast(behind, type.clone(builder.getI1Type()), {dim});
      result = math.select(behind, window, result);
    } else {
      result = window;
    }
    offset += inputSize;
  }
  return SmallVector<Value>{result ? result : operands[0]};
}

namespace {
/// What propagation does not count as a window can still be computed by one.
struct ConcatenateModel
    : LocalComputeOpInterface::ExternalModel<ConcatenateModel, ConcatenateOp> {
  bool mayCut(Operation *, const FactorRule &, int32_t) const { return true; }
  FailureOr<SmallVector<Value>> computeLocally(Operation *op,
                                               OpBuilder &builder,
                                               ValueRange operands,
                                               LocalContext &context) const {
    return concatenateLocally(cast<ConcatenateOp>(op), builder, operands,
                              context);
  }
};
} // namespace

void shardonnay::attachWindowModels(MLIRContext &context) {
  attachRule<ReverseOp, reverseRule>(context);
  attachRule<SliceOp, sliceRule>(context);
  attachRule<PadOp, padRule>(context);
  ConcatenateOp::attachInterface<ConcatenateRule>(context);

  attachLocal<ReverseOp, reverseLocally>(context);
  attachPicking<SliceOp, sliceLocally, pickingRule>(context);
  attachLocal<PadOp, padLocally>(context);
  ConcatenateOp::attachInterface<ConcatenateModel>(context);

  attachConstantExpression<SliceOp>(context);
}
