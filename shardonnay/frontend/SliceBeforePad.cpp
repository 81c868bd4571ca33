//===- SliceBeforePad.cpp - neighbours of a position, written as slices ---===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each tensor.pad of which all uses are slices, and that pads a sharded
// dim:
// 1. `padOthers`: for slices that need it, the dims that are whole are padded
//    as before, once.
// 2. `sliceThenPad`: each slice takes of that, or of the tensor, what it needs,
//    and pads the sharded dims.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardonnay/dialect/sdy/OpSharding.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/interfaces/OpKinds.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SLICEBEFOREPADPASS
#include "shardonnay/frontend/Passes.h.inc"

namespace {

using Sizes = SmallVector<int64_t>;

/// One tensor.pad and its slices.
class Swapper {
public:
  explicit Swapper(tensor::PadOp pad)
      : pad(pad), sharding(sdy::getSharding(pad.getResult())), builder(pad) {}

  bool applies();
  void run();

private:
  bool isSharded(int64_t dim) const {
    return !sharding.getDimShardings()[dim].getAxes().empty();
  }
  /// A pad of `value` as `pad` is, by other numbers; `value` if by none.
  Value padded(Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high);
  Value sliced(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes);
  /// What `slice` has of a dim of the source: [start, limit).
  std::pair<int64_t, int64_t> positions(tensor::ExtractSliceOp slice,
                                        int64_t dim);
  bool mayTake(Operation *user);
  bool needsOthers(tensor::ExtractSliceOp slice);
  Value padOthers();
  void sliceThenPad(tensor::ExtractSliceOp slice);

  tensor::PadOp pad;
  sdy::TensorShardingAttr sharding;
  OpBuilder builder;
  /// Null as long as no slice needs it.
  Value others;
};

std::pair<int64_t, int64_t> Swapper::positions(tensor::ExtractSliceOp slice,
                                               int64_t dim) {
  int64_t size = pad.getSourceType().getDimSize(dim),
          from = slice.getStaticOffsets()[dim] - pad.getStaticLow()[dim],
          to = from + slice.getStaticSizes()[dim];
  return {std::clamp<int64_t>(from, 0, size), std::clamp<int64_t>(to, 0, size)};
}

/// A slice of neighbouring positions, not all of which are padding.
bool Swapper::mayTake(Operation *user) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
  if (!slice || slice->hasAttr(sdy::kOpShardingAttr) ||
      !slice.getType().hasStaticShape() ||
      slice.getType().getRank() != slice.getSourceType().getRank() ||
      llvm::any_of(slice.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(slice.getStaticStrides(),
                   [](int64_t stride) { return stride != 1; }))
    return false;
  for (int64_t dim = 0, rank = slice.getType().getRank(); dim < rank; ++dim)
    if (auto [start, limit] = positions(slice, dim); start == limit)
      return false;
  return true;
}

bool Swapper::applies() {
  Value fill = pad.getConstantPaddingValue();
  if (!sharding || pad->hasAttr(sdy::kOpShardingAttr) || !fill ||
      fill.getParentRegion() == &pad.getRegion() ||
      !pad.getSourceType().hasStaticShape() ||
      !pad.getResultType().hasStaticShape() ||
      !llvm::all_of(pad->getUsers(),
                    [&](Operation *user) { return mayTake(user); }))
    return false;
  bool padsSharded = false;
  for (int64_t dim = 0, rank = sharding.getRank(); dim < rank; ++dim) {
    bool pads = pad.getStaticLow()[dim] != 0 || pad.getStaticHigh()[dim] != 0;
    padsSharded |= pads && isSharded(dim);
    // What is sliced off has no place in the source.
    if (pad.getStaticLow()[dim] < 0 || pad.getStaticHigh()[dim] < 0)
      return false;
  }
  return padsSharded;
}

Value Swapper::padded(Value value, ArrayRef<int64_t> low,
                      ArrayRef<int64_t> high) {
  auto isZero = [](int64_t size) { return size == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  Sizes shape;
  for (auto [size, before, after] : llvm::zip_equal(type.getShape(), low, high))
    shape.push_back(before + size + after);
  auto made =
      tensor::PadOp::create(builder, pad.getLoc(), type.clone(shape), value,
                            getAsIndexOpFoldResult(builder.getContext(), low),
                            getAsIndexOpFoldResult(builder.getContext(), high),
                            pad.getConstantPaddingValue(), /*nofold=*/false);
  sdy::setSharding(made.getResult(), sharding);
  return made;
}

Value Swapper::sliced(Value value, ArrayRef<int64_t> starts,
                      ArrayRef<int64_t> sizes) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == sizes)
    return value;
  Sizes strides(sizes.size(), 1);
  return tensor::ExtractSliceOp::create(
      builder, pad.getLoc(), type.clone(sizes), value,
      getAsIndexOpFoldResult(builder.getContext(), starts),
      getAsIndexOpFoldResult(builder.getContext(), sizes),
      getAsIndexOpFoldResult(builder.getContext(), strides));
}

/// The slice has padding of a dim that is whole.
bool Swapper::needsOthers(tensor::ExtractSliceOp slice) {
  for (int64_t dim = 0, rank = sharding.getRank(); dim < rank; ++dim) {
    auto [start, limit] = positions(slice, dim);
    if (!isSharded(dim) && limit - start < slice.getStaticSizes()[dim])
      return true;
  }
  return false;
}

Value Swapper::padOthers() {
  if (others)
    return others;
  Sizes low(pad.getStaticLow()), high(pad.getStaticHigh());
  for (int64_t dim = 0, rank = low.size(); dim < rank; ++dim)
    if (isSharded(dim))
      low[dim] = high[dim] = 0;
  builder.setInsertionPoint(pad);
  return others = padded(pad.getSource(), low, high);
}

void Swapper::sliceThenPad(tensor::ExtractSliceOp slice) {
  bool fromOthers = needsOthers(slice);
  Value base = fromOthers ? padOthers() : pad.getSource();
  ArrayRef<int64_t> available =
      cast<RankedTensorType>(base.getType()).getShape();
  int64_t rank = available.size();
  Sizes starts(rank), sizes(available), low(rank), high(rank),
      offsets(slice.getStaticOffsets());
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (fromOthers && !isSharded(dim))
      continue;
    auto [start, limit] = positions(slice, dim);
    starts[dim] = start;
    sizes[dim] = limit - start;
    low[dim] = start + pad.getStaticLow()[dim] - offsets[dim];
    high[dim] = slice.getStaticSizes()[dim] - low[dim] - sizes[dim];
    offsets[dim] = 0;
  }
  builder.setInsertionPoint(slice);
  Value part = sliced(base, starts, sizes);
  if (part != base)
    sdy::setSharding(part, sharding);
  Value result =
      sliced(padded(part, low, high), offsets, slice.getStaticSizes());
  if (result != base)
    result.getDefiningOp()->setDiscardableAttrs(
        slice->getDiscardableAttrDictionary());
  slice.getResult().replaceAllUsesWith(result);
  slice.erase();
}

void Swapper::run() {
  for (Operation *user : llvm::make_early_inc_range(pad->getUsers()))
    sliceThenPad(cast<tensor::ExtractSliceOp>(user));
  pad.erase();
}

struct SliceBeforePadPass : impl::SliceBeforePadPassBase<SliceBeforePadPass> {
  void runOnOperation() override {
    if (!getAnalysis<OpKinds>().mayHave<tensor::PadOp>())
      return markAllAnalysesPreserved();
    SmallVector<tensor::PadOp> pads;
    getOperation().walk([&](tensor::PadOp pad) { pads.push_back(pad); });
    for (tensor::PadOp pad : pads)
      if (Swapper swapper(pad); swapper.applies())
        swapper.run();
  }
};

} // namespace
} // namespace shardonnay
