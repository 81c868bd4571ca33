//===- ExpandUnlowered.cpp - what MLIR's tools do not lower ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   linalg.softmax             as it says that it decomposes
//   linalg.pack                a pad, a reshape, a transpose
//   linalg.unpack              a transpose, a reshape, a slice
//   tensor.gather, tosa.gather a generic that reads at indices
//   tosa.scatter               loops that insert rows
//
// Indices that padding holds may be any number, so all are clamped.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/mpi/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_EXPANDUNLOWEREDPASS
#include "shardonnay/mpi/Passes.h.inc"

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static Value makeEmpty(OpBuilder &builder, Location loc,
                       RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

static Value transpose(OpBuilder &builder, Location loc, Value from,
                       ArrayRef<int64_t> permutation) {
  RankedTensorType type = tensorOf(from);
  Value to = makeEmpty(
      builder, loc, type.clone(applyPermutation(type.getShape(), permutation)));
  return linalg::TransposeOp::create(builder, loc, from, to, permutation)
      ->getResult(0);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
/// Where the dims of a tensor of tiles are once each tile is behind its dim.
struct TileOrder {
  template <typename OpT>
  TileOrder(OpT op, ArrayRef<int64_t> packed, int64_t rank) {
    SmallVector<int64_t> outer(op.getOuterDimsPerm());
    if (outer.empty())
      outer = llvm::to_vector(llvm::seq<int64_t>(rank));
    permutation.resize(packed.size());
    for (int64_t dim = 0; dim < rank; ++dim) {
      ReassociationIndices &group = groups.emplace_back();
      int64_t size =
          place(llvm::find(outer, dim) - outer.begin(), packed, group);
      ArrayRef<int64_t> tiled = op.getInnerDimsPos();
      const auto *tile = llvm::find(tiled, dim);
      if (tile != tiled.end())
        size *= place(rank + (tile - tiled.begin()), packed, group);
      plain.push_back(size);
    }
  }

  /// The dims, each with its tile; the shape with both; the sizes of both
  /// together; where the dims go.
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> expanded, plain, permutation;

private:
  /// Puts the packed dim `from` next; its size.
  int64_t place(int64_t from, ArrayRef<int64_t> packed,
                ReassociationIndices &group) {
    group.push_back(expanded.size());
    permutation[from] = expanded.size();
    expanded.push_back(packed[from]);
    return packed[from];
  }
};
} // namespace

static Value expand(OpBuilder &builder, linalg::PackOp op) {
  Location loc = op.getLoc();
  RankedTensorType from = tensorOf(op.getSource()), to = tensorOf(op.getDest());
  TileOrder order(op, to.getShape(), from.getRank());
  Value value = op.getSource();
  if (ArrayRef<int64_t>(order.plain) != from.getShape()) {
    SmallVector<OpFoldResult> low(from.getRank(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> high;
    for (auto [whole, size] : llvm::zip_equal(order.plain, from.getShape()))
      high.push_back(builder.getIndexAttr(whole - size));
    value = tensor::PadOp::create(builder, loc, from.clone(order.plain), value,
                                  low, high, op.getPaddingValue());
  }
  value = tensor::ExpandShapeOp::create(
      builder, loc, from.clone(order.expanded), value, order.groups);
  return transpose(builder, loc, value, order.permutation);
}

static Value expand(OpBuilder &builder, linalg::UnPackOp op) {
  Location loc = op.getLoc();
  RankedTensorType from = tensorOf(op.getSource()), to = tensorOf(op.getDest());
  TileOrder order(op, from.getShape(), to.getRank());
  Value value = transpose(builder, loc, op.getSource(),
                          invertPermutationVector(order.permutation));
  value = tensor::CollapseShapeOp::create(builder, loc, to.clone(order.plain),
                                          value, order.groups);
  if (ArrayRef<int64_t>(order.plain) == to.getShape())
    return value;
  SmallVector<OpFoldResult> zeros(to.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(to.getRank(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(
      builder, loc, to, value, zeros,
      getAsIndexOpFoldResult(builder.getContext(), to.getShape()), ones);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// The index in `indices` at `at`, as one of a dim of `size`.
static Value readIndex(OpBuilder &builder, Location loc, Value indices,
                       ValueRange at, int64_t size) {
  Value index = tensor::ExtractOp::create(builder, loc, indices, at);
  if (!index.getType().isIndex())
    index =
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), index);
  Value last = arith::ConstantIndexOp::create(builder, loc, size - 1);
  Value first = arith::ConstantIndexOp::create(builder, loc, 0);
  index = arith::MinSIOp::create(builder, loc, index, last);
  return arith::MaxSIOp::create(builder, loc, index, first);
}

/// A tensor of `type`, an element being the one of `source` at the indices that
/// `place` makes of the element's own.
static Value
readAt(OpBuilder &builder, Location loc, RankedTensorType type, Value source,
       llvm::function_ref<SmallVector<Value>(OpBuilder &, ValueRange)> place) {
  Value empty = makeEmpty(builder, loc, type);
  if (tensorOf(source).getNumElements() == 0)
    return empty;
  int64_t rank = type.getRank();
  SmallVector<AffineMap> maps{builder.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inside, Location loc, ValueRange) {
    SmallVector<Value> own;
    for (int64_t dim = 0; dim < rank; ++dim)
      own.push_back(linalg::IndexOp::create(inside, loc, dim));
    Value element =
        tensor::ExtractOp::create(inside, loc, source, place(inside, own));
    linalg::YieldOp::create(inside, loc, element);
  };
  return linalg::GenericOp::create(builder, loc, type, ValueRange(), empty,
                                   maps, loops, body)
      ->getResult(0);
}

static Value expand(OpBuilder &builder, tensor::GatherOp op) {
  ArrayRef<int64_t> sizes = tensorOf(op.getSource()).getShape();
  ArrayRef<int64_t> gathered = op.getGatherDims();
  RankedTensorType type = tensorOf(op.getResult());
  int64_t numPlaces = tensorOf(op.getIndices()).getRank() - 1;
  bool keepsDims =
      type.getRank() == numPlaces + static_cast<int64_t>(sizes.size());
  auto place = [&](OpBuilder &inside, ValueRange own) {
    SmallVector<Value> at(own.take_front(numPlaces)), places;
    int64_t next = numPlaces;
    for (auto [dim, size] : llvm::enumerate(sizes)) {
      const auto *found = llvm::find(gathered, static_cast<int64_t>(dim));
      if (found == gathered.end()) {
        places.push_back(own[next++]);
        continue;
      }
      next += keepsDims;
      at.push_back(arith::ConstantIndexOp::create(inside, op.getLoc(),
                                                  found - gathered.begin()));
      places.push_back(
          readIndex(inside, op.getLoc(), op.getIndices(), at, size));
      at.pop_back();
    }
    return places;
  };
  return readAt(builder, op.getLoc(), type, op.getSource(), place);
}

static Value expand(OpBuilder &builder, tosa::GatherOp op) {
  int64_t size = tensorOf(op.getValues()).getDimSize(1);
  auto place = [&](OpBuilder &inside, ValueRange own) {
    return SmallVector<Value>{own[0],
                              readIndex(inside, op.getLoc(), op.getIndices(),
                                        own.take_front(2), size),
                              own[2]};
  };
  return readAt(builder, op.getLoc(), tensorOf(op.getOutput()), op.getValues(),
                place);
}

static Value expand(OpBuilder &builder, tosa::ScatterOp op) {
  Location loc = op.getLoc();
  RankedTensorType rows = tensorOf(op.getInput());
  if (rows.getNumElements() == 0)
    return op.getValuesIn();
  int64_t size = tensorOf(op.getValuesIn()).getDimSize(1);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  SmallVector<Value> ends;
  for (int64_t dim : {0, 1})
    ends.push_back(
        arith::ConstantIndexOp::create(builder, loc, rows.getDimSize(dim)));
  auto insert = [&](OpBuilder &inside, Location loc, ValueRange at,
                    ValueRange carried) -> scf::ValueVector {
    OpFoldResult start = inside.getIndexAttr(0), unit = inside.getIndexAttr(1);
    SmallVector<OpFoldResult> sizes{unit, unit,
                                    inside.getIndexAttr(rows.getDimSize(2))};
    SmallVector<OpFoldResult> strides(3, unit);
    Value row = tensor::ExtractSliceOp::create(
        inside, loc, op.getInput(), ArrayRef<OpFoldResult>{at[0], at[1], start},
        sizes, strides);
    Value to = readIndex(inside, loc, op.getIndices(), at, size);
    return {tensor::InsertSliceOp::create(
        inside, loc, row, carried[0], ArrayRef<OpFoldResult>{at[0], to, start},
        sizes, strides)};
  };
  return scf::buildLoopNest(builder, loc, {zero, zero}, ends, {one, one},
                            op.getValuesIn(), insert)
      .results.front();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static Value expand(OpBuilder &builder, linalg::SoftmaxOp op) {
  FailureOr<SmallVector<Value>> values = op.decomposeOperation(builder);
  return succeeded(values) ? values->front() : Value();
}

namespace {
struct ExpandUnloweredPass
    : impl::ExpandUnloweredPassBase<ExpandUnloweredPass> {
  void runOnOperation() override {
    auto &kinds = getAnalysis<OpKinds>();
    if (!kinds.mayHave<linalg::SoftmaxOp>() &&
        !kinds.mayHave<linalg::PackOp>() &&
        !kinds.mayHave<linalg::UnPackOp>() &&
        !kinds.mayHave<tensor::GatherOp>() &&
        !kinds.mayHave<tosa::GatherOp>() && !kinds.mayHave<tosa::ScatterOp>())
      return markAllAnalysesPreserved();
    getOperation().walk([](Operation *op) {
      OpBuilder builder(op);
      Value value =
          TypeSwitch<Operation *, Value>(op)
              .Case<linalg::SoftmaxOp, linalg::PackOp, linalg::UnPackOp,
                    tensor::GatherOp, tosa::GatherOp, tosa::ScatterOp>(
                  [&](auto each) { return expand(builder, each); })
              .Default([](Operation *) { return Value(); });
      if (!value)
        return;
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    });
  }
};
} // namespace

} // namespace shardonnay
