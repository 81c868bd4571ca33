//===- SelectAndScatter.cpp - sources go where windows select -------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device computes all windows that reach its part of the result:
//
// 1. place: which windows these are. Of a result sharded into shards of n,
//    windows from first = ceil((p + low - size + 1) / stride) on reach
//    positions from p = i * n on, `count` of them at most (FactorWindow.h).
// 2. fetch: what they see of the operand, and their sources, are fetched.
// 3. select: the position that each selects among those that exist, as a
//    reduce_window of elements and their positions, which are -1 outside.
// 4. add: for each place in a window the sources that go there, spread out as
//    the windows are.
// 5. crop: the device's part.
//
// Example, 4 devices, 16 positions, windows of 3 every 2 padded by 1 in front:
// device 1 has positions 4 to 7, which windows 2, 3 and 4 reach; they see
// positions 3 to 9.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Combiner.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"
#include "shardonnay/models/StableHLO/SlidingWindow.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// A window of more elements is not widened: each element is a place to add.
static constexpr int64_t kMostPlaces = 64;

/// Sources are added, and windows are small.
static bool canWiden(SelectAndScatterOp op) {
  int64_t places = 1;
  for (const WindowDim &window : op.getWindow())
    places *= window.size;
  Type element = getElementTypeOrSelf(op.getOperand());
  return places > 0 && places <= kMostPlaces &&
         combinerOf(op.getScatter()) == ReductionKind::Sum &&
         op.getOperand().getType().getNumElements() > 0 &&
         op.getSource().getType().getNumElements() > 0 &&
         getElementTypeOrSelf(op.getSource()) == element &&
         getElementTypeOrSelf(op.getType()) == element;
}

/// Propagation sees windows of the source on their own.
static FactorRule buildRule(SelectAndScatterOp op, bool isPicking) {
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
    if (isPicking) {
      int32_t factor =
          builder.add(shape[dim], {dim, dim, -1}, {dim}, FactorKind::Windowed);
      for (int32_t tensor : {0, 1}) {
        FactorWindow fetched =
            toFactorWindow(window, tensor, factor, shape[dim], source[dim]);
        fetched.kind = tensor == 0 ? WindowKind::Around : WindowKind::Reaching;
        builder.addWindow(fetched);
      }
      continue;
    }
    builder.add(source[dim], {-1, dim, -1}, {-1}, FactorKind::NeedReplication);
    builder.add(shape[dim], {dim, -1, -1}, {dim},
                canWiden(op) ? FactorKind::Windowed
                             : FactorKind::NeedReplication);
  }
  return builder.build();
}

static std::optional<FactorRule> selectAndScatterRule(SelectAndScatterOp op) {
  return buildRule(op, /*isPicking=*/false);
}

static std::optional<FactorRule> pickingRule(SelectAndScatterOp op) {
  if (!canWiden(op))
    return std::nullopt;
  return buildRule(op, /*isPicking=*/true);
}

//===----------------------------------------------------------------------===//
// Local computation
//===----------------------------------------------------------------------===//

namespace {
/// A dim whose windows are not trivial.
struct WidenedDim {
  int64_t dim;
  WindowDim window;
  /// What `count` windows see.
  int64_t seen, count;
  /// A sharded dim has a local size in the result, a first position p, a first
  /// window + `before`, and begins after position p - size + 1.
  bool isSharded = false;
  int64_t local = 0, before = 0;
  Value position = nullptr, first = nullptr, offset = nullptr;
};

class SelectAndScatterBuilder {
public:
  SelectAndScatterBuilder(SelectAndScatterOp op, OpBuilder &builder,
                          ValueRange operands, LocalContext &context)
      : op(op), builder(builder), context(context), loc(op.getLoc()),
        math(builder, loc), operand(operands[0]), source(operands[1]),
        init(math.convert(operands[2], getElementTypeOrSelf(operand))) {}

  Value build();

private:
  WidenedDim place(int64_t dim, const WindowDim &window);
  void sharded(WidenedDim &dim, const FactorWindow &around,
               const FactorWindow &reaching);
  void placeAnywhere(WidenedDim &dim);
  void fetchSources(const WidenedDim &dim, const FactorWindow &reaching);
  Value positions();
  Value selected(Value positions);
  void fillBody(Region &body);
  Value spread(Value taken, ArrayRef<int64_t> at);
  Value crop(Value result, const WidenedDim &dim);

  Value slice(Value tensor, int64_t dim, Value start, int64_t size);
  Value iota(RankedTensorType type, int64_t dim, int64_t step);
  RankedTensorType integersLike(Value value) {
    return cast<RankedTensorType>(value.getType()).clone(builder.getI32Type());
  }
  IntegerType positionType(int64_t dim) {
    WindowDim window = op.getWindow()[dim];
    return math.positionType(shapeOf(op.getOperand())[dim] +
                             4 * (window.size + window.stride + window.low));
  }
  Value splat(Value like, int64_t value) {
    return math.splat(cast<RankedTensorType>(like.getType()), value);
  }

  SelectAndScatterOp op;
  OpBuilder &builder;
  LocalContext &context;
  Location loc;
  LocalMath math;
  Value operand, source, init;
  SmallVector<WidenedDim> dims;
};
} // namespace

Value SelectAndScatterBuilder::slice(Value tensor, int64_t dim, Value start,
                                     int64_t size) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> starts(type.getRank(), splat(start, 0));
  starts[dim] = start;
  SmallVector<int64_t> sizes(type.getShape());
  sizes[dim] = size;
  return DynamicSliceOp::create(builder, loc, tensor, starts, sizes);
}

/// step * (position in the dim).
Value SelectAndScatterBuilder::iota(RankedTensorType type, int64_t dim,
                                    int64_t step) {
  Value count = IotaOp::create(builder, loc, type, dim);
  return MulOp::create(builder, loc, type, count, math.splat(type, step));
}

WidenedDim SelectAndScatterBuilder::place(int64_t dim,
                                          const WindowDim &window) {
  WidenedDim widened{dim, window, shapeOf(operand)[dim], shapeOf(source)[dim]};
  SmallVector<FactorWindow> windows = context.shardWindows();
  int32_t factor = context.rule().results[0].dims[dim].front();
  for (size_t i = 0; i < windows.size(); i += 2)
    if (windows[i].factor == factor)
      sharded(widened, windows[i], windows[i + 1]);
  return widened;
}

/// Where the stride divides the parts, windows stand in all of them alike.
void SelectAndScatterBuilder::sharded(WidenedDim &dim,
                                      const FactorWindow &around,
                                      const FactorWindow &reaching) {
  const WindowDim &window = dim.window;
  const AxisList &axes = context.factorAxes(around.factor);
  dim.isSharded = true;
  dim.local =
      cast<RankedTensorType>(context.resultTypes()[0]).getDimSize(dim.dim);
  dim.position =
      math.shardStart(context, axes, dim.local, positionType(dim.dim));
  bool isAligned = dim.local % window.stride == 0;
  ShardWindow seen =
      shardWindow(around, axes.numShards(), shapeOf(operand)[dim.dim]);
  dim.seen = seen.size - (isAligned ? 0 : window.stride - 1);
  dim.count = (dim.seen - window.size) / window.stride + 1;
  operand = context.fetchWindow(builder, loc, operand, around, seen,
                                /*fill=*/Value());
  if (isAligned) {
    dim.offset = splat(dim.position, seen.start + window.size - 1);
  } else {
    placeAnywhere(dim);
    operand = slice(operand, dim.dim, dim.offset, dim.seen);
  }
  fetchSources(dim, reaching);
}

void SelectAndScatterBuilder::placeAnywhere(WidenedDim &dim) {
  const WindowDim &window = dim.window;
  int64_t size = window.size, stride = window.stride;
  Value position = dim.position;
  dim.before =
      llvm::divideCeil(std::max<int64_t>(size - window.low, 0), stride);
  int64_t shift = window.low - size + dim.before * stride;
  dim.first = DivOp::create(builder, loc, position.getType(),
                            math.add(position, splat(position, shift + stride)),
                            splat(position, stride));
  Value begin = MulOp::create(builder, loc, position.getType(), dim.first,
                              splat(position, stride));
  dim.offset =
      math.subtract(begin, math.add(position, splat(position, shift + 1)));
}

/// What is fetched is equally far apart from device to device; where first
/// windows do not, it has them in it.
void SelectAndScatterBuilder::fetchSources(const WidenedDim &dim,
                                           const FactorWindow &reaching) {
  const AxisList &axes = context.factorAxes(reaching.factor);
  auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(source));
  ShardWindow sharded =
      shardWindow(reaching, axes.numShards(), shapeOf(source)[dim.dim]);
  source = context.fetchWindow(builder, loc, source, reaching, sharded,
                               math.sumIdentity(scalar));
  if (sharded.size == dim.count)
    return;
  Value index = math.convert(context.deviceIndex(builder, loc, axes),
                             getElementTypeOrSelf(dim.first));
  Value fetched = math.add(MulOp::create(builder, loc, index.getType(), index,
                                         splat(index, sharded.step)),
                           splat(index, dim.before + sharded.start));
  source = slice(source, dim.dim, math.subtract(dim.first, fetched), dim.count);
}

/// Numbers the elements that the windows see; -1 outside the operand.
Value SelectAndScatterBuilder::positions() {
  RankedTensorType type = integersLike(operand);
  Value number = math.splat(type, 0);
  int64_t step = 1;
  Value exists;
  for (const WidenedDim &dim : dims) {
    number = math.add(number, iota(type, dim.dim, step));
    step *= dim.seen;
    if (!dim.isSharded)
      continue;
    IntegerType integer = positionType(dim.dim);
    auto along = RankedTensorType::get({dim.seen}, integer);
    Value begin = math.add(math.add(dim.position, dim.offset),
                           splat(dim.position, 1 - dim.window.size));
    Value at = math.add(iota(along, 0, 1), math.broadcast(begin, along));
    Value inside =
        math.broadcast(math.inRange(at, 0, shapeOf(op.getOperand())[dim.dim]),
                       type.clone(builder.getI1Type()), {dim.dim});
    exists = exists ? math.both(exists, inside) : inside;
  }
  return exists ? math.select(exists, number, math.splat(type, -1)) : number;
}

/// (a, i), (b, j): the first where j < 0, or where i >= 0 and a is selected.
void SelectAndScatterBuilder::fillBody(Region &body) {
  auto element =
      RankedTensorType::get({}, getElementTypeOrSelf(operand.getType()));
  auto number = RankedTensorType::get({}, builder.getI32Type());
  OpBuilder inside(builder.getContext());
  Block *block = inside.createBlock(
      &body, {}, {element, number, element, number}, {loc, loc, loc, loc});
  LocalMath math(inside, loc);
  Value a = block->getArgument(0), i = block->getArgument(1);
  Value b = block->getArgument(2), j = block->getArgument(3);
  IRMapping mapping;
  Block &select = op.getSelect().front();
  mapping.map(select.getArgument(0), a);
  mapping.map(select.getArgument(1), b);
  for (Operation &inner : select.without_terminator())
    inside.clone(inner, mapping);
  Value isSelected =
      mapping.lookupOrDefault(select.getTerminator()->getOperand(0));
  Value none = math.splat(number, 0);
  Value keeps = OrOp::create(
      inside, loc, math.compare(j, none, ComparisonDirection::LT),
      math.both(math.compare(i, none, ComparisonDirection::GE), isSelected));
  ReturnOp::create(
      inside, loc,
      ValueRange{math.select(keeps, a, b), math.select(keeps, i, j)});
}

/// The number of what each window selects.
Value SelectAndScatterBuilder::selected(Value positions) {
  SmallVector<WindowDim> windows = op.getWindow();
  for (const WidenedDim &dim : dims)
    if (dim.isSharded)
      windows[dim.dim].low = windows[dim.dim].high = 0;
  SmallVector<int64_t> sizes, strides;
  for (const WindowDim &window : windows) {
    sizes.push_back(window.size);
    strides.push_back(window.stride);
  }
  auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(operand));
  Value number =
      math.splat(RankedTensorType::get({}, builder.getI32Type()), -1);
  auto reduce = ReduceWindowOp::create(
      builder, loc, TypeRange{source.getType(), integersLike(source)},
      ValueRange{operand, positions},
      ValueRange{math.sumIdentity(scalar), number}, sizes,
      builder.getDenseI64ArrayAttr(strides), nullptr, nullptr,
      paddingOf(builder, windows));
  fillBody(reduce.getBody());
  return reduce.getResult(1);
}

/// The sources of windows that select their element at `at`, where that is.
Value SelectAndScatterBuilder::spread(Value taken, ArrayRef<int64_t> at) {
  auto type = cast<RankedTensorType>(taken.getType());
  SmallVector<int64_t> low(type.getRank(), 0), high(low), interior(low);
  Value number = math.splat(type, 0);
  int64_t step = 1;
  for (auto [dim, place] : llvm::zip_equal(dims, at)) {
    int64_t stride = dim.window.stride;
    int64_t begin = place - (dim.isSharded ? 0 : dim.window.low);
    number = math.add(math.add(number, iota(type, dim.dim, step * stride)),
                      math.splat(type, step * begin));
    step *= dim.seen;
    low[dim.dim] = begin;
    high[dim.dim] = dim.seen - (begin + (dim.count - 1) * stride + 1);
    interior[dim.dim] = stride - 1;
  }
  Value nothing = math.sumIdentity(cast<RankedTensorType>(source.getType()));
  Value added = math.select(
      math.compare(taken, number, ComparisonDirection::EQ), source, nothing);
  Value fill =
      math.sumIdentity(RankedTensorType::get({}, getElementTypeOrSelf(source)));
  return PadOp::create(builder, loc, added, fill, low, high, interior);
}

/// The part begins size - 1 - offset after what is seen, which may be before
/// it: there, and behind it, is what everything starts from.
Value SelectAndScatterBuilder::crop(Value result, const WidenedDim &dim) {
  SmallVector<int64_t> around(shapeOf(result).size(), 0), none(around);
  around[dim.dim] = dim.window.stride;
  result = PadOp::create(builder, loc, result, init, around, around, none);
  Value start = math.subtract(
      splat(dim.offset, dim.window.size - 1 + dim.window.stride), dim.offset);
  return slice(result, dim.dim, start, dim.local);
}

Value SelectAndScatterBuilder::build() {
  for (auto [dim, window] : llvm::enumerate(op.getWindow())) {
    if (window.isTrivial())
      continue;
    dims.push_back(place(dim, window));
  }
  Value taken = selected(positions());
  Value result =
      math.broadcast(init, cast<RankedTensorType>(operand.getType()));
  SmallVector<int64_t> at(dims.size(), 0);
  for (bool more = true; more;) {
    result = math.add(result, spread(taken, at));
    more = false;
    for (size_t i = 0; i < dims.size() && !more; ++i) {
      more = ++at[i] < dims[i].window.size;
      if (!more)
        at[i] = 0;
    }
  }
  for (const WidenedDim &dim : dims)
    if (dim.isSharded)
      result = crop(result, dim);
  return result;
}

static LocalResults selectAndScatterLocally(SelectAndScatterOp op,
                                            OpBuilder &builder,
                                            ValueRange operands,
                                            LocalContext &context) {
  auto isShardWindow = [&](auto indexed) {
    return !indexed.value().isTrivial() &&
           !axesOfDim(context, context.rule().results[0], indexed.index())
                .empty();
  };
  SmallVector<WindowDim> windows = op.getWindow();
  if (llvm::none_of(llvm::enumerate(windows), isShardWindow))
    return cloneLocally(op, builder, operands, context);
  return SmallVector<Value>{
      SelectAndScatterBuilder(op, builder, operands, context).build()};
}

void shardonnay::attachSelectAndScatterModels(MLIRContext &context) {
  attachRule<SelectAndScatterOp, selectAndScatterRule>(context);
  attachPicking<SelectAndScatterOp, selectAndScatterLocally, pickingRule>(
      context);
}
