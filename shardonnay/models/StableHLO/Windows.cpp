//===- Windows.cpp - elements that move along a dim -----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slice, pad, reverse and concatenate. In a windowed dim that is sharded, the
// device of index i has the result's positions [i * m, (i + 1) * m), m being
// the result's local size; it fetches the operand's positions that these come
// from, which are within one window that moves by a fixed step from device to
// device, and has only an arrangement left to do.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"
#include "shardonnay/models/StableHLO/SlidingWindow.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static FactorKind windowedIf(bool windowed) {
  return windowed ? FactorKind::Windowed : FactorKind::PassThrough;
}

/// One element a window: of `size` positions, `count` are seen, the first at
/// `start`.
static void addWindow(FactorRuleBuilder &builder, int32_t factor, int64_t size,
                      int64_t count, int64_t start, int64_t stride,
                      int32_t operand = 0, int64_t baseDilation = 1) {
  FactorWindow window;
  window.tensor = operand;
  window.factor = factor;
  window.size = size;
  window.count = count;
  window.low = -start;
  window.stride = stride;
  window.baseDilation = baseDilation;
  builder.addWindow(window);
}

static std::optional<FactorRule> reverseRule(ReverseOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  int64_t rank = shape.size();
  FactorRuleBuilder builder({rank}, {rank});
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isTurned = llvm::is_contained(op.getDimensions(), dim);
    int32_t factor =
        builder.add(shape[dim], {dim}, {dim}, windowedIf(isTurned));
    if (isTurned)
      addWindow(builder, factor, shape[dim], shape[dim], shape[dim] - 1,
                /*stride=*/-1);
  }
  return builder.build();
}

/// Behind the limit nothing is needed, though the operand goes on: the first
/// row, sharded by eight, is not the first eight rows.
static void addSlicedDim(FactorRuleBuilder &builder, SliceOp op, int64_t dim) {
  int64_t from = shapeOf(op.getOperand())[dim];
  int64_t to = shapeOf(op.getResult())[dim];
  int32_t factor = builder.add(from, {dim}, {dim}, windowedIf(from != to));
  if (from != to)
    addWindow(builder, factor, op.getLimitIndices()[dim], to,
              op.getStartIndices()[dim], op.getStrides()[dim]);
}

static std::optional<FactorRule> sliceRule(SliceOp op) {
  int64_t rank = shapeOf(op.getOperand()).size();
  FactorRuleBuilder builder({rank}, {rank});
  for (int64_t dim = 0; dim < rank; ++dim)
    addSlicedDim(builder, op, dim);
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
      addSlicedDim(builder, op, dim);
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
  for (int64_t dim = 0; dim < rank; ++dim) {
    int32_t factor =
        builder.add(shape[dim], {dim, -1}, {dim}, windowedIf(padsDim(op, dim)));
    if (padsDim(op, dim))
      addWindow(builder, factor, shape[dim], shapeOf(op.getResult())[dim],
                -op.getEdgePaddingLow()[dim], /*stride=*/1, /*operand=*/0,
                op.getInteriorPadding()[dim] + 1);
  }
  return builder.build();
}

/// The operands are slices, or parts of one value: a rotation or a padding
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
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isJoined = dim == static_cast<int64_t>(op.getDimension());
    int32_t factor =
        builder.add(shape[dim], SmallVector<int64_t>(ranks.size(), dim), {dim},
                    isJoined ? kind : FactorKind::PassThrough);
    int64_t offset = 0;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      int64_t size = shapeOf(input)[dim];
      if (isJoined && size != 0)
        addWindow(builder, factor, size, shape[dim], -offset, /*stride=*/1, i);
      offset += size;
    }
  }
  return builder.build();
}

//===----------------------------------------------------------------------===//
// Local computations
//===----------------------------------------------------------------------===//

static int64_t resultSize(LocalContext &context, int64_t dim) {
  return cast<RankedTensorType>(context.resultTypes()[0]).getDimSize(dim);
}

static int64_t dimOf(LocalContext &context, const FactorWindow &window) {
  return context.rule().results[0].dimOf(window.factor);
}

/// Whether this device has the one position that is taken of a dim with local
/// shards of size `part`. Null for other dims.
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

/// A dim that is kept whole may be sharded: its limit is the local size. Of one
/// of which one position is taken, the device that has it takes it.
static LocalResults sliceLocally(SliceOp op, OpBuilder &builder,
                                 ValueRange operands, LocalContext &context) {
  SmallVector<int64_t> starts(op.getStartIndices()),
      limits(op.getLimitIndices()), strides(op.getStrides());
  Value operand = operands[0];
  for (const FactorWindow &window : context.shardWindows()) {
    int64_t dim = dimOf(context, window), size = resultSize(context, dim);
    int64_t span = size == 0 ? 0 : (size - 1) * window.stride + 1;
    ShardWindow sharded;
    operand = fetchWindow(builder, op.getLoc(), context, operand, window,
                          /*fill=*/Value(), sharded);
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

static LocalResults reverseLocally(ReverseOp op, OpBuilder &builder,
                                   ValueRange operands, LocalContext &context) {
  Value operand = operands[0];
  for (const FactorWindow &window : context.shardWindows()) {
    if (window.count == 0)
      continue;
    ShardWindow sharded;
    operand = fetchWindow(builder, op.getLoc(), context, operand, window,
                          /*fill=*/Value(), sharded);
  }
  return cloneLocally(op, builder, operand, context);
}

static LocalResults padLocally(PadOp op, OpBuilder &builder,
                               ValueRange operands, LocalContext &context) {
  SmallVector<int64_t> low(op.getEdgePaddingLow()),
      high(op.getEdgePaddingHigh()), interior(op.getInteriorPadding());
  Value operand = operands[0], padding = operands[1];
  SmallVector<FactorWindow, 2> windows = context.shardWindows();
  SmallVector<ShardWindow, 2> fetched(windows.size());
  for (auto [window, sharded] : llvm::zip_equal(windows, fetched))
    operand = fetchWindow(builder, op.getLoc(), context, operand, window,
                          padding, sharded);
  for (auto [window, sharded] : llvm::zip_equal(windows, fetched)) {
    int64_t dim = dimOf(context, window);
    operand = alignWindow(builder, op.getLoc(), context, operand, window,
                          padding, sharded);
    low[dim] = sharded.low;
    high[dim] = sharded.high;
    interior[dim] = sharded.baseDilation - 1;
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
static LocalResults concatenateLocally(ConcatenateOp op, OpBuilder &builder,
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
  for (const FactorWindow &part : context.shardWindows()) {
    ShardWindow sharded;
    offset = part.low;
    Value window =
        fetchWindow(builder, op.getLoc(), context, operands[part.tensor], part,
                    /*fill=*/Value(), sharded);
    if (result) {
      Value behind = math.compare(positions, math.splat(positionsType, offset),
                                  ComparisonDirection::GE);
      behind = math.broadcast(behind, type.clone(builder.getI1Type()), {dim});
      result = math.select(behind, window, result);
    } else {
      result = window;
    }
  }
  return SmallVector<Value>{result ? result : operands[0]};
}

void shardonnay::attachWindowModels(MLIRContext &context) {
  attachRule<ReverseOp, reverseRule>(context);
  attachRule<SliceOp, sliceRule>(context);
  attachRule<PadOp, padRule>(context);
  attachRule<ConcatenateOp, concatenateRule, PropagationClass::Compute,
             /*kLooksAtOperands=*/true>(context);

  attachLocal<ReverseOp, reverseLocally>(context);
  attachPicking<SliceOp, sliceLocally, pickingRule>(context);
  attachLocal<PadOp, padLocally>(context);
  // What propagation does not count as a window can still be computed by one.
  attachLocal<ConcatenateOp, concatenateLocally, mayShardAny>(context);

  attachConstantExpression<SliceOp>(context);
}
