//===- DynamicSlice.cpp - one window at a start that is data --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dim that the window has whole may be cut: the start is clamped to 0, in the
// whole as in the part. So may a dim of which it has one position: the device
// that has it takes it. Of the operand of dynamic_update_slice, other dims may
// be cut too, while the update's are not: each device writes the part of the
// window that lies in its part.
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

/// Of dims of which one position is taken, the operand's may be cut.
static std::optional<FactorRule> pickingRule(DynamicSliceOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  if (!picksAny(shape, op.getSliceSizes()))
    return std::nullopt;
  int64_t rank = shape.size();
  SmallVector<int64_t> ranks(op->getNumOperands(), 0);
  ranks[0] = rank;
  FactorRuleBuilder builder(ranks, {rank});
  for (auto [dim, size, taken] : llvm::enumerate(shape, op.getSliceSizes())) {
    SmallVector<int64_t> dims(ranks.size(), -1), none(dims);
    dims[0] = dim;
    if (taken == 1 && size > 1) {
      builder.add(size, dims, {-1}, FactorKind::Indexed);
      builder.add(1, none, {static_cast<int64_t>(dim)},
                  FactorKind::NeedReplication);
      continue;
    }
    builder.add(size, dims, {static_cast<int64_t>(dim)},
                taken == size ? FactorKind::PassThrough
                              : FactorKind::NeedReplication);
  }
  return builder.build();
}

/// The start in a dim that is cut, and of which one position is taken, becomes
/// relative to this device's part; what it takes counts where it lies in that.
static FailureOr<SmallVector<Value>>
dynamicSliceLocally(DynamicSliceOp op, OpBuilder &builder, ValueRange operands,
                    LocalContext &context) {
  LocalMath math(builder, op.getLoc());
  SmallVector<Value> local(operands);
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  IntegerType type =
      math.positionType(shape.empty() ? 1 : *llvm::max_element(shape),
                        getElementTypeOrSelf(operands.back().getType()));
  Value mask;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    AxisList axes = axesOfDim(context, context.rule().operands[0], dim);
    if (axes.empty() || op.getSliceSizes()[dim] == size)
      continue;
    Value &start = local[dim + 1];
    int64_t part = shapeOf(operands[0])[dim];
    start = math.clamp(math.positions(start, type), 0, size - 1);
    start = math.subtract(start, math.shardStart(context, axes, part, type));
    Value inside = math.inRange(start, 0, part);
    mask = mask ? math.both(mask, inside) : inside;
  }
  if (mask)
    for (Value &start : llvm::drop_begin(local))
      start = math.positions(start, type);
  SmallVector<Value> results = cloneLocally(op, builder, local, context);
  results[0].getDefiningOp<DynamicSliceOp>().setSliceSizes(shapeOf(results[0]));
  if (!mask)
    return results;
  auto taken = cast<RankedTensorType>(results[0].getType());
  mask = math.broadcast(mask, taken.clone(builder.getI1Type()));
  return SmallVector<Value>{
      math.select(mask, results[0], math.sumIdentity(taken))};
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
/// Writes the window into a part of the operand. In a cut dim, with `start` the
/// window's (clamped) start relative to the part, element i of the part is
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

  bool cutsDim(int64_t dim) {
    return shapeOf(op.getOperand())[dim] != shapeOf(op.getUpdate())[dim] &&
           !axesOfDim(context, context.rule().operands[0], dim).empty();
  }
  bool cutsAny() {
    return llvm::any_of(llvm::seq<int64_t>(0, part.size()),
                        [&](int64_t dim) { return cutsDim(dim); });
  }
  Value build();

private:
  Value relativeStart(int64_t dim, IntegerType type);
  Value isWritten(int64_t dim, Value relative, RankedTensorType pieceType);
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

/// Which elements along `dim` of the piece are in the window.
Value PartialUpdate::isWritten(int64_t dim, Value relative,
                               RankedTensorType pieceType) {
  auto countType = RankedTensorType::get(
      {part[dim]}, getElementTypeOrSelf(relative.getType()));
  Value count = IotaOp::create(builder, loc, countType, 0);
  Value source = math.subtract(count, math.broadcast(relative, countType));
  return math.broadcast(math.inRange(source, 0, window[dim]),
                        pieceType.clone(builder.getI1Type()), {dim});
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
  SmallVector<int64_t> pieceShape(window), padding(rank, 0), none(rank, 0);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (cutsDim(dim))
      pieceShape[dim] = padding[dim] = part[dim];
  RankedTensorType pieceType = operandType.clone(pieceShape);

  Value zero = math.splat(RankedTensorType::get({}, type), 0);
  SmallVector<Value> readAt(rank, zero), writeAt(starts);
  Value written;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!cutsDim(dim))
      continue;
    Value relative = relativeStart(dim, type);
    Value size = math.splat(RankedTensorType::get({}, type), part[dim]);
    readAt[dim] =
        math.clamp(math.subtract(size, relative), 0, part[dim] + window[dim]);
    writeAt[dim] = zero;
    Value inWindow = isWritten(dim, relative, pieceType);
    written = written ? math.both(written, inWindow) : inWindow;
  }

  Value filler = math.sumIdentity(operandType.clone(ArrayRef<int64_t>()));
  Value padded =
      PadOp::create(builder, loc, update, filler, padding, padding, none);
  Value piece = math.select(written, slice(padded, readAt, pieceType),
                            slice(operand, writeAt, pieceType));
  return DynamicUpdateSliceOp::create(builder, loc, operandType, operand, piece,
                                      writeAt);
}

static FailureOr<SmallVector<Value>>
dynamicUpdateSliceLocally(DynamicUpdateSliceOp op, OpBuilder &builder,
                          ValueRange operands, LocalContext &context) {
  PartialUpdate partial(op, builder, operands, context);
  if (!partial.cutsAny())
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
