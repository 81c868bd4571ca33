//===- WindowReduce.cpp - reductions of windows ---------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Combiner.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"
#include "shardonnay/models/StableHLO/SlidingWindow.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

static std::optional<FactorRule> reduceWindowRule(ReduceWindowOp op) {
  size_t count = op.getInputs().size();
  ArrayRef<int64_t> shape = shapeOf(op.getResult(0));
  int64_t rank = shape.size();
  SmallVector<int64_t> ranks(2 * count, 0);
  std::fill_n(ranks.begin(), count, rank);
  FactorRuleBuilder builder(ranks, SmallVector<int64_t>(count, rank));
  for (auto [dim, window] : llvm::enumerate(op.getWindow())) {
    SmallVector<int64_t> operandDims(2 * count, -1);
    std::fill_n(operandDims.begin(), count, dim);
    builder.add(shape[dim], operandDims, SmallVector<int64_t>(count, dim),
                window.isTrivial() ? FactorKind::PassThrough
                                   : FactorKind::Windowed);
  }
  return builder.build();
}

/// What is outside the inputs is the initial value: the windows of all devices
/// are whole.
static FailureOr<SmallVector<Value>>
reduceWindowLocally(ReduceWindowOp op, OpBuilder &builder, ValueRange operands,
                    LocalContext &context) {
  LocalMath math(builder, op.getLoc());
  SmallVector<Value> local(operands);
  SmallVector<WindowDim> window = op.getWindow();
  size_t count = op.getInputs().size();
  auto result = cast<RankedTensorType>(context.resultTypes()[0]);
  for (auto [dim, slides] : llvm::enumerate(window)) {
    int32_t factor = context.rule().results[0].dims[dim].front();
    const AxisList &axes = context.factorAxes(factor);
    if (axes.empty() || slides.isTrivial())
      continue;
    WindowDim global = slides;
    for (size_t i = 0; i < count; ++i) {
      Type element = getElementTypeOrSelf(op.getInputs()[i]);
      Value fill = math.convert(operands[count + i], element);
      slides = global;
      local[i] = fetchWindows(builder, op.getLoc(), context, local[i], dim,
                              shapeOf(op.getInputs()[i])[dim], axes,
                              result.getDimSize(dim), slides, fill);
    }
  }
  SmallVector<Value> results = cloneLocally(op, builder, local, context);
  auto reduce = results.front().getDefiningOp<ReduceWindowOp>();
  reduce.setPaddingAttr(paddingOf(builder, window));
  reduce.setBaseDilations(llvm::map_to_vector(
      window, [](const WindowDim &dim) { return dim.baseDilation; }));
  return results;
}

//===----------------------------------------------------------------------===//
// select_and_scatter
//===----------------------------------------------------------------------===//

/// The device can compute all windows that reach its part of the result: what
/// it sees beside them is never selected, as no window is padded and none of
/// the operand is between windows, and sources of windows that do not exist add
/// nothing.
static bool canWiden(SelectAndScatterOp op, const WindowDim &window) {
  return window.low == 0 && window.high == 0 && window.stride <= window.size &&
         combinerOf(op.getScatter()) == ReductionKind::Sum;
}

static std::optional<FactorRule> selectAndScatterRule(SelectAndScatterOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  ArrayRef<int64_t> source = shapeOf(op.getSource());
  int64_t rank = shape.size();
  FactorRuleBuilder builder({rank, rank, 0}, {rank});
  for (auto [index, window] : llvm::enumerate(op.getWindow())) {
    int64_t dim = index;
    if (window.isTrivial()) {
      builder.add(shape[dim], {dim, dim, -1}, {dim});
      continue;
    }
    builder.add(source[dim], {-1, dim, -1}, {-1}, FactorKind::NeedReplication);
    builder.add(shape[dim], {dim, -1, -1}, {dim},
                canWiden(op, window) ? FactorKind::Windowed
                                     : FactorKind::NeedReplication);
  }
  return builder.build();
}

namespace {
/// One cut dim. Of a result of `local` positions from p = i * local on, windows
/// from ceil((p - size + 1) / stride) on reach the device's part: `count` of
/// them at most.
struct WidenedDim {
  WidenedDim(int64_t dim, const WindowDim &window, int64_t local)
      : dim(dim), window(window), local(local),
        count((std::max<int64_t>(local, 1) + window.size - 2) / window.stride +
              1),
        before(llvm::divideCeil(window.size, window.stride)) {}

  int64_t seen() const { return (count - 1) * window.stride + window.size; }

  int64_t dim;
  WindowDim window;
  int64_t local, count;
  /// Windows before the first one that may reach the first part.
  int64_t before;
  /// Of this device: the first window + `before`; what it sees begins `offset`
  /// after position p - size + 1.
  Value first, offset;
};

class SelectAndScatterBuilder {
public:
  SelectAndScatterBuilder(SelectAndScatterOp op, OpBuilder &builder,
                          LocalContext &context)
      : op(op), builder(builder), context(context), math(builder, op.getLoc()) {
  }

  SmallVector<Value> build(ValueRange operands);

private:
  WidenedDim place(int64_t dim, int64_t local, const AxisList &axes);
  Value slice(Value tensor, int64_t dim, Value start, int64_t size);
  Value pad(Value tensor, int64_t dim, int64_t low, int64_t high, Value with);

  SelectAndScatterOp op;
  OpBuilder &builder;
  LocalContext &context;
  LocalMath math;
};
} // namespace

WidenedDim SelectAndScatterBuilder::place(int64_t dim, int64_t local,
                                          const AxisList &axes) {
  WidenedDim widened(dim, op.getWindow()[dim], local);
  int64_t size = widened.window.size, stride = widened.window.stride;
  IntegerType integer =
      math.positionType(shapeOf(op.getOperand())[dim] + 2 * (size + stride));
  auto type = RankedTensorType::get({}, integer);
  Value position = math.shardStart(context, axes, local, integer);
  // ceil(x / stride) = floor((x + stride - 1) / stride), shifted to be
  // positive.
  int64_t shift = widened.before * stride - size + stride;
  widened.first = DivOp::create(builder, op.getLoc(), type,
                                math.add(position, math.splat(type, shift)),
                                math.splat(type, stride));
  Value begin = MulOp::create(builder, op.getLoc(), type, widened.first,
                              math.splat(type, stride));
  widened.offset = math.subtract(
      begin, math.add(position, math.splat(type, shift - stride + 1)));
  return widened;
}

Value SelectAndScatterBuilder::slice(Value tensor, int64_t dim, Value start,
                                     int64_t size) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value zero = math.splat(cast<RankedTensorType>(start.getType()), 0);
  SmallVector<Value> starts(type.getRank(), zero);
  starts[dim] = start;
  SmallVector<int64_t> sizes(type.getShape());
  sizes[dim] = size;
  return DynamicSliceOp::create(builder, op.getLoc(), tensor, starts, sizes);
}

Value SelectAndScatterBuilder::pad(Value tensor, int64_t dim, int64_t low,
                                   int64_t high, Value with) {
  SmallVector<int64_t> lows(shapeOf(tensor).size(), 0), highs(lows), none(lows);
  lows[dim] = low;
  highs[dim] = high;
  return PadOp::create(builder, op.getLoc(), tensor, with, lows, highs, none);
}

SmallVector<Value> SelectAndScatterBuilder::build(ValueRange operands) {
  Value operand = operands[0], source = operands[1], init = operands[2];
  auto local = cast<RankedTensorType>(context.resultTypes()[0]);
  auto scalar =
      RankedTensorType::get({}, getElementTypeOrSelf(source.getType()));
  SmallVector<WidenedDim> widened;
  for (auto [dim, window] : llvm::enumerate(op.getWindow())) {
    int32_t factor = context.rule().results[0].dims[dim].front();
    const AxisList &axes = context.factorAxes(factor);
    if (axes.empty() || window.isTrivial())
      continue;
    WidenedDim next = place(dim, local.getDimSize(dim), axes);
    operand = context.fetchWindow(
        builder, op.getLoc(), operand, dim, shapeOf(op.getOperand())[dim], axes,
        1 - window.size, next.local, next.seen() + window.stride - 1, Value());
    operand = slice(operand, dim, next.offset, next.seen());
    source =
        pad(source, dim, next.before, next.count, math.sumIdentity(scalar));
    source = slice(source, dim, next.first, next.count);
    widened.push_back(next);
  }
  IRMapping mapping;
  mapping.map(op.getOperand(), operand);
  mapping.map(op.getSource(), source);
  mapping.map(op.getInitValue(), init);
  auto scattered = cast<SelectAndScatterOp>(builder.clone(*op, mapping));
  auto element = cast<RankedTensorType>(op.getType()).getElementType();
  scattered.getResult().setType(
      RankedTensorType::get(shapeOf(operand), element));
  scattered->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  Value result = scattered.getResult();
  for (const WidenedDim &next : widened) {
    // The device's part begins size - 1 - offset after what was seen.
    result = pad(result, next.dim, 0, next.window.stride,
                 math.convert(init, element));
    auto type = cast<RankedTensorType>(next.offset.getType());
    Value start =
        math.subtract(math.splat(type, next.window.size - 1), next.offset);
    result = slice(result, next.dim, start, next.local);
  }
  return {result};
}

static FailureOr<SmallVector<Value>>
selectAndScatterLocally(SelectAndScatterOp op, OpBuilder &builder,
                        ValueRange operands, LocalContext &context) {
  return SelectAndScatterBuilder(op, builder, context).build(operands);
}

void shardonnay::attachWindowReduceModels(MLIRContext &context) {
  attachRule<ReduceWindowOp, reduceWindowRule>(context);
  attachLocal<ReduceWindowOp, reduceWindowLocally>(context);
  attachRule<SelectAndScatterOp, selectAndScatterRule>(context);
  attachLocal<SelectAndScatterOp, selectAndScatterLocally>(context);
}
