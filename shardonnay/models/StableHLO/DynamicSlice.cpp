//===- DynamicSlice.cpp - one window at a start that is data --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dim that the window has whole may be sharded: the start is clamped to 0, in
// the whole as in the part. So may another one: each device takes what it has
// of the window, zeros for the rest, and the result is the sum. Of the operand
// of dynamic_update_slice, other dims may be sharded too, while the update's
// are not: each device writes the part of the window that is in its part.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

//===----------------------------------------------------------------------===//
// dynamic_slice
//===----------------------------------------------------------------------===//

static std::optional<FactorRule> dynamicSliceRule(DynamicSliceOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  int64_t rank = shape.size();
  SmallVector<int64_t> ranks(op->getNumOperands(), 0);
  ranks[0] = rank;
  FactorRuleBuilder builder(ranks, {rank});
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool sliced = op.getSliceSizes()[dim] != shape[dim];
    SmallVector<int64_t> dims(ranks.size(), -1);
    dims[0] = dim;
    builder.add(shape[dim], dims, {dim},
                sliced ? FactorKind::NeedReplication : FactorKind::PassThrough,
                ReductionKind::Sum, /*blocked=*/sliced);
  }
  return builder.build();
}

/// A window in the dim is summed with no more bytes than the dim is gathered
/// with, which crosses each link once, a sum twice.
static bool isPart(int64_t taken, int64_t size) {
  return taken < size && 2 * taken <= size;
}

/// The operand may be sharded in dims of which a part is taken.
static std::optional<FactorRule> pickingRule(DynamicSliceOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  if (llvm::none_of(llvm::zip_equal(op.getSliceSizes(), shape), [](auto sizes) {
        return isPart(std::get<0>(sizes), std::get<1>(sizes));
      }))
    return std::nullopt;
  int64_t rank = shape.size();
  SmallVector<int64_t> ranks(op->getNumOperands(), 0);
  ranks[0] = rank;
  FactorRuleBuilder builder(ranks, {rank});
  for (auto [index, size, taken] : llvm::enumerate(shape, op.getSliceSizes())) {
    int64_t dim = index;
    SmallVector<int64_t> dims(ranks.size(), -1), none(dims);
    dims[0] = dim;
    if (!isPart(taken, size)) {
      builder.add(size, dims, {dim},
                  taken == size ? FactorKind::PassThrough
                                : FactorKind::NeedReplication);
      continue;
    }
    builder.add(size, dims, {-1}, FactorKind::Indexed);
    builder.add(taken, none, {dim}, FactorKind::NeedReplication);
  }
  return builder.build();
}

namespace {
/// Takes what is in this device's part of the operand. In a sharded dim, with
/// `start` the (clamped) start relative to the part, that is one position, or
/// none; or, of a window of several, those that it has, at their places among
/// zeros: a slice that is as long as the window, or as the part, is taken where
/// the window begins, or as near as the part goes, and written that much
/// further on into zeros of the window's size with room for a slice on either
/// side.
class PartialSlice {
public:
  PartialSlice(DynamicSliceOp op, OpBuilder &builder, ValueRange operands,
               LocalContext &context)
      : op(op), builder(builder), context(context), math(builder, op.getLoc()),
        operand(operands[0]), starts(operands.drop_front()),
        taken(op.getSliceSizes()) {}

  Value build();

private:
  /// A dim of which a slice of `size` begins `shift` behind the window's start.
  struct Placed {
    int64_t dim, size;
    Value shift;
  };
  void shardDim(int64_t dim, const AxisList &axes);
  Value place(Value shard, const Placed &placed);

  DynamicSliceOp op;
  OpBuilder &builder;
  LocalContext &context;
  LocalMath math;
  Value operand, mask;
  IntegerType type;
  SmallVector<Value> starts;
  SmallVector<int64_t> taken;
  SmallVector<Placed> placed;
};
} // namespace

void PartialSlice::shardDim(int64_t dim, const AxisList &axes) {
  int64_t size = shapeOf(op.getOperand())[dim], part = shapeOf(operand)[dim];
  Value start = math.subtract(math.clamp(starts[dim], 0, size - taken[dim]),
                              math.shardStart(context, axes, part, type));
  starts[dim] = start;
  if (taken[dim] == 1) {
    Value inside = math.inRange(start, 0, part);
    mask = mask ? math.both(mask, inside) : inside;
    return;
  }
  int64_t shard = std::min(taken[dim], part);
  starts[dim] = math.clamp(start, 0, part - shard);
  placed.push_back({dim, shard, math.subtract(starts[dim], start)});
  taken[dim] = shard;
}

Value PartialSlice::place(Value shard, const Placed &placed) {
  auto shardType = cast<RankedTensorType>(shard.getType());
  int64_t window = op.getSliceSizes()[placed.dim];
  SmallVector<int64_t> shape(shardType.getShape()), from(shape.size(), 0),
      ones(shape.size(), 1);
  shape[placed.dim] = window + 2 * placed.size;
  Value zeros = math.sumIdentity(shardType.clone(shape));
  auto scalar = RankedTensorType::get({}, type);
  SmallVector<Value> at(shape.size(), math.splat(scalar, 0));
  at[placed.dim] =
      math.clamp(math.add(placed.shift, math.splat(scalar, placed.size)), 0,
                 window + placed.size);
  Value roomy = DynamicUpdateSliceOp::create(builder, op.getLoc(),
                                             zeros.getType(), zeros, shard, at);
  from[placed.dim] = placed.size;
  shape[placed.dim] = placed.size + window;
  return SliceOp::create(builder, op.getLoc(), roomy, from, shape, ones);
}

Value PartialSlice::build() {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  type = math.positionType(2 * (shape.empty() ? 1 : *llvm::max_element(shape)),
                           starts.empty()
                               ? Type(builder.getI32Type())
                               : getElementTypeOrSelf(starts.back().getType()));
  for (auto [dim, size] : llvm::enumerate(shape)) {
    AxisList axes = axesOfDim(context, context.rule().operands[0], dim);
    if (taken[dim] == size)
      taken[dim] = shapeOf(operand)[dim];
    else if (!axes.empty()) {
      starts[dim] = math.positions(starts[dim], type);
      shardDim(dim, axes);
    }
  }
  if (mask || !placed.empty())
    for (Value &start : starts)
      start = math.positions(start, type);
  Value result =
      DynamicSliceOp::create(builder, op.getLoc(), operand, starts, taken);
  for (const Placed &next : placed)
    result = place(result, next);
  if (!mask)
    return result;
  auto resultType = cast<RankedTensorType>(result.getType());
  mask = math.broadcast(mask, resultType.clone(builder.getI1Type()));
  return math.select(mask, result, math.sumIdentity(resultType));
}

static LocalResults dynamicSliceLocally(DynamicSliceOp op, OpBuilder &builder,
                                        ValueRange operands,
                                        LocalContext &context) {
  return SmallVector<Value>{
      PartialSlice(op, builder, operands, context).build()};
}

//===----------------------------------------------------------------------===//
// dynamic_update_slice
//===----------------------------------------------------------------------===//

static std::optional<FactorRule>
dynamicUpdateSliceRule(DynamicUpdateSliceOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  ArrayRef<int64_t> update = shapeOf(op.getUpdate());
  int64_t rank = shape.size();
  SmallVector<int64_t> ranks(op->getNumOperands(), 0);
  ranks[0] = ranks[1] = rank;
  FactorRuleBuilder builder(ranks, {rank});
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<int64_t> inBoth(ranks.size(), -1);
    inBoth[0] = inBoth[1] = dim;
    if (shape[dim] == update[dim]) {
      builder.add(shape[dim], inBoth, {dim});
      continue;
    }
    SmallVector<int64_t> inOperand(inBoth), inUpdate(inBoth);
    inOperand[1] = inUpdate[0] = -1;
    builder.add(shape[dim], inOperand, {dim}, FactorKind::Indexed);
    builder.add(update[dim], inUpdate, {-1}, FactorKind::NeedReplication);
  }
  return builder.build();
}

namespace {
/// Writes the window into a part of the operand. In a sharded dim, with `start`
/// the window's (clamped) start relative to the part, element i of the part is
/// element i - start of the update, if there is such a one. So the update,
/// padded by the part's size on both sides, is sliced at size - start; where
/// that is the padding, the operand's own elements stay.
class PartialUpdate {
public:
  PartialUpdate(DynamicUpdateSliceOp op, OpBuilder &builder,
                ValueRange operands, LocalContext &context)
      : op(op), builder(builder), context(context), loc(op.getLoc()),
        math(builder, loc), operand(operands[0]), update(operands[1]),
        starts(operands.drop_front(2)), part(shapeOf(operand)),
        window(shapeOf(update)) {}

  bool shardsDim(int64_t dim) {
    return shapeOf(op.getOperand())[dim] != shapeOf(op.getUpdate())[dim] &&
           !axesOfDim(context, context.rule().operands[0], dim).empty();
  }
  bool shardsAny() {
    return llvm::any_of(llvm::seq<int64_t>(0, part.size()),
                        [&](int64_t dim) { return shardsDim(dim); });
  }
  Value build();

private:
  Value relativeStart(int64_t dim, IntegerType type);
  Value isWritten(int64_t dim, Value relative, RankedTensorType shardType);
  Value slice(Value value, ValueRange at, RankedTensorType type) {
    return DynamicSliceOp::create(builder, loc, type, value, at,
                                  type.getShape());
  }

  DynamicUpdateSliceOp op;
  OpBuilder &builder;
  LocalContext &context;
  Location loc;
  LocalMath math;
  Value operand, update;
  SmallVector<Value> starts;
  ArrayRef<int64_t> part, window;
};
} // namespace

Value PartialUpdate::relativeStart(int64_t dim, IntegerType type) {
  int64_t size = shapeOf(op.getOperand())[dim];
  Value start = math.clamp(starts[dim], 0, size - window[dim]);
  AxisList axes = axesOfDim(context, context.rule().operands[0], dim);
  return math.subtract(start, math.shardStart(context, axes, part[dim], type));
}

/// Which elements along `dim` of the local shard are in the window.
Value PartialUpdate::isWritten(int64_t dim, Value relative,
                               RankedTensorType shardType) {
  auto countType = RankedTensorType::get(
      {part[dim]}, getElementTypeOrSelf(relative.getType()));
  Value count = IotaOp::create(builder, loc, countType, 0);
  Value source = math.subtract(count, math.broadcast(relative, countType));
  return math.broadcast(math.inRange(source, 0, window[dim]),
                        shardType.clone(builder.getI1Type()), {dim});
}

Value PartialUpdate::build() {
  int64_t rank = part.size(), largest = 0;
  for (int64_t size : shapeOf(op.getOperand()))
    largest = std::max(largest, size);
  IntegerType type =
      math.positionType(largest, getElementTypeOrSelf(starts[0]));
  for (Value &start : starts)
    start = math.positions(start, type);

  auto operandType = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shardShape(window), padding(rank, 0), none(rank, 0);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (shardsDim(dim))
      shardShape[dim] = padding[dim] = part[dim];
  RankedTensorType shardType = operandType.clone(shardShape);

  Value zero = math.splat(RankedTensorType::get({}, type), 0);
  SmallVector<Value> readAt(rank, zero), writeAt(starts);
  Value written;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!shardsDim(dim))
      continue;
    Value relative = relativeStart(dim, type);
    Value size = math.splat(RankedTensorType::get({}, type), part[dim]);
    readAt[dim] =
        math.clamp(math.subtract(size, relative), 0, part[dim] + window[dim]);
    writeAt[dim] = zero;
    Value inWindow = isWritten(dim, relative, shardType);
    written = written ? math.both(written, inWindow) : inWindow;
  }

  Value filler = math.sumIdentity(operandType.clone(ArrayRef<int64_t>()));
  Value padded =
      PadOp::create(builder, loc, update, filler, padding, padding, none);
  Value shard = math.select(written, slice(padded, readAt, shardType),
                            slice(operand, writeAt, shardType));
  return DynamicUpdateSliceOp::create(builder, loc, operandType, operand, shard,
                                      writeAt);
}

static LocalResults dynamicUpdateSliceLocally(DynamicUpdateSliceOp op,
                                              OpBuilder &builder,
                                              ValueRange operands,
                                              LocalContext &context) {
  PartialUpdate partial(op, builder, operands, context);
  if (!partial.shardsAny())
    return cloneLocally(op, builder, operands, context);
  return SmallVector<Value>{partial.build()};
}

void shardonnay::attachDynamicSliceModels(MLIRContext &context) {
  constexpr auto kForward = PropagationClass::PassThroughForward;
  attachRule<DynamicSliceOp, dynamicSliceRule, kForward>(context);
  attachRule<DynamicUpdateSliceOp, dynamicUpdateSliceRule, kForward>(context);
  attachPicking<DynamicSliceOp, dynamicSliceLocally, pickingRule>(context);
  attachLocal<DynamicUpdateSliceOp, dynamicUpdateSliceLocally>(context);
}
