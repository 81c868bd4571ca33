//===- SlidingWindow.cpp - what a device's windows see --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/SlidingWindow.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/LocalMath.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

/// The shard with `fill` between its elements and after the last one: a shard
/// of the dim that is so dilated, if what is behind the dim's end is `fill`
/// too.
static Value dilate(OpBuilder &builder, Location loc, LocalContext &context,
                    Value local, int64_t dim, int64_t size,
                    const AxisList &axes, int64_t dilation, Value fill) {
  int64_t shard = shapeOf(local)[dim];
  Value filled = context.fillEnd(builder, loc, local, dim, size, axes, fill);
  SmallVector<int64_t> none(shapeOf(local).size(), 0), high(none),
      interior(none);
  high[dim] = shard == 0 ? 0 : dilation - 1;
  interior[dim] = dilation - 1;
  return PadOp::create(builder, loc, filled, fill, none, high, interior);
}

Value shardonnay::fetchWindow(OpBuilder &builder, Location loc,
                              LocalContext &context, Value local,
                              const FactorWindow &window, Value fill,
                              ShardWindow &sharded) {
  const AxisList &axes = context.factorAxes(window.factor);
  int64_t dim = context.rule().operands[window.tensor].dimOf(window.factor);
  sharded = shardWindow(window, axes.numShards(), shapeOf(local)[dim]);
  if (sharded.isDilatedFirst)
    local = dilate(builder, loc, context, local, dim, window.size, axes,
                   window.baseDilation, fill);
  return context.fetchWindow(builder, loc, local, window, sharded, fill);
}

Value shardonnay::alignWindow(OpBuilder &builder, Location loc,
                              LocalContext &context, Value fetched,
                              const FactorWindow &window, Value fill,
                              ShardWindow &sharded) {
  if (sharded.shift == 0)
    return fetched;
  const AxisList &axes = context.factorAxes(window.factor);
  int64_t dim = context.rule().operands[window.tensor].dimOf(window.factor);
  SmallVector<int64_t> low(shapeOf(fetched).size(), 0), high(low),
      interior(low), sizes(shapeOf(fetched));
  low[dim] = sharded.low;
  high[dim] = sharded.high;
  interior[dim] = sharded.baseDilation - 1;
  sizes[dim] = sharded.covered;
  Value filled =
      PadOp::create(builder, loc, fetched, fill, low, high, interior);
  LocalMath math(builder, loc);
  IntegerType integer = math.positionType(shapeOf(filled)[dim]);
  Value shift = math.shardStart(context, axes, sharded.shift, integer);
  auto scalar = cast<RankedTensorType>(shift.getType());
  SmallVector<Value> starts(sizes.size(), math.splat(scalar, 0));
  starts[dim] = math.add(shift, math.splat(scalar, sharded.shiftStart));
  sharded.low = sharded.high = sharded.shift = sharded.shiftStart = 0;
  sharded.baseDilation = 1;
  return DynamicSliceOp::create(builder, loc, filled, starts, sizes);
}

FactorWindow shardonnay::toFactorWindow(const WindowDim &dim, int32_t operand,
                                        int32_t factor, int64_t size,
                                        int64_t count) {
  FactorWindow window;
  window.tensor = operand;
  window.factor = factor;
  window.size = size;
  window.count = count;
  window.stride = dim.stride;
  window.low = dim.low;
  window.extent = dim.extent();
  window.baseDilation = dim.baseDilation;
  return window;
}

DenseIntElementsAttr shardonnay::paddingOf(Builder &builder,
                                           ArrayRef<WindowDim> window) {
  SmallVector<int64_t> flat;
  for (const WindowDim &dim : window)
    flat.append({dim.low, dim.high});
  auto type = RankedTensorType::get({static_cast<int64_t>(window.size()), 2},
                                    builder.getI64Type());
  return DenseIntElementsAttr::get(type, flat);
}
