//===- SlidingWindow.cpp - what a device's windows see --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/SlidingWindow.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

/// The piece with `fill` between its elements and after the last one: a piece
/// of the dim that is so dilated, if what is behind the dim's end is `fill`
/// too.
static Value dilate(OpBuilder &builder, Location loc, LocalContext &context,
                    Value local, int64_t dim, int64_t size,
                    const AxisList &axes, int64_t dilation, Value fill) {
  int64_t piece = shapeOf(local)[dim];
  Value filled = context.fetchWindow(builder, loc, local, dim, size, axes,
                                     /*start=*/0, /*step=*/piece, piece, fill);
  SmallVector<int64_t> none(shapeOf(local).size(), 0), high(none),
      interior(none);
  high[dim] = piece == 0 ? 0 : dilation - 1;
  interior[dim] = dilation - 1;
  return PadOp::create(builder, loc, filled, fill, none, high, interior);
}

// The device's windows cover the positions of the base from count * stride * i
// - low on. Where that is a multiple of the base dilation further from device
// to device, the elements among them are found at the same places; elsewhere
// the elements are spread out before they are sent.
Value shardonnay::fetchWindows(OpBuilder &builder, Location loc,
                               LocalContext &context, Value local, int64_t dim,
                               int64_t size, const AxisList &axes,
                               int64_t count, WindowDim &window, Value fill) {
  int64_t step = count * window.stride;
  if (step % window.baseDilation != 0) {
    local = dilate(builder, loc, context, local, dim, size, axes,
                   window.baseDilation, fill);
    size = shapeOf(local)[dim] * axes.numShards();
    window.baseDilation = 1;
  }
  int64_t dilation = window.baseDilation;
  int64_t span = count == 0 ? 0 : (count - 1) * window.stride + window.extent();
  int64_t first = llvm::divideCeilSigned(-window.low, dilation);
  int64_t holes = first * dilation + window.low;
  int64_t elements = span > holes ? (span - holes - 1) / dilation + 1 : 1;
  window.low = holes;
  window.high = span - holes - ((elements - 1) * dilation + 1);
  return context.fetchWindow(builder, loc, local, dim, size, axes, first,
                             step / dilation, elements, fill);
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
