//===- SplitDims.cpp - ops on dims that are split -------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What speaks of dims in the attributes of each op, where dims are split
// (interfaces/DimSplit.h). Element-wise ops have nothing (Pointwise.h).
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/chlo/Chlo.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/interfaces/DimSplit.h"
#include "shardonnay/models/StableHLO/Families.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

namespace {

template <typename OpT> bool always(OpT, const DimSplits &) { return true; }

/// `split` changes the attributes of a copy of the op that has the new types,
/// where it `may`.
template <typename OpT, auto split, auto may>
struct AttributeModel
    : DimSplitOpInterface::ExternalModel<AttributeModel<OpT, split, may>, OpT> {
  bool maySplitDims(Operation *op, const DimSplits &splits) const {
    return may(cast<OpT>(op), splits);
  }
  Operation *splitDims(Operation *op, OpBuilder &builder, ValueRange operands,
                       TypeRange results, const DimSplits &splits) const {
    Operation *copy = cloneWithTypes(op, builder, operands, results);
    split(cast<OpT>(copy), splits);
    return copy;
  }
};

/// Nothing speaks of dims but of the last ones, which stay.
template <typename OpT>
struct TypesModel : DimSplitOpInterface::ExternalModel<TypesModel<OpT>, OpT> {};

struct ReshapeModel
    : DimSplitOpInterface::ExternalModel<ReshapeModel, ReshapeOp> {
  bool isReshape(Operation *) const { return true; }
};

/// What is repeated along a split dim stands at its first part.
void splitBroadcast(BroadcastInDimOp op, const DimSplits &splits) {
  SmallVector<int64_t> dims;
  for (auto [from, to] : llvm::enumerate(op.getBroadcastDimensions())) {
    SmallVector<int64_t> parts = splits.dims(/*tensor=*/1, to);
    llvm::append_range(
        dims, ArrayRef(parts).take_front(splits.tensors[0][from].size()));
  }
  op.setBroadcastDimensions(dims);
}

void splitTranspose(TransposeOp op, const DimSplits &splits) {
  op.setPermutation(splits.dims(/*tensor=*/0, op.getPermutation()));
}

void splitReduce(ReduceOp op, const DimSplits &splits) {
  op.setDimensions(splits.dims(/*tensor=*/0, op.getDimensions()));
}

void splitConcatenate(ConcatenateOp op, const DimSplits &splits) {
  op.setDimension(splits.first(/*tensor=*/0, op.getDimension()));
}

void splitSort(SortOp op, const DimSplits &splits) {
  int64_t rank = splits.tensors[0].size(), dim = op.getDimension();
  op.setDimension(splits.first(/*tensor=*/0, dim < 0 ? dim + rank : dim));
}

void splitReverse(ReverseOp op, const DimSplits &splits) {
  op.setDimensions(splits.dims(/*tensor=*/0, op.getDimensions()));
}

/// Of each dim of the operand a value; `whole` says it of a part of one that is
/// split, which is taken whole.
SmallVector<int64_t> ofEach(ArrayRef<int64_t> values, const DimSplits &splits,
                            llvm::function_ref<int64_t(int64_t)> whole) {
  SmallVector<int64_t> result;
  for (auto [value, sizes] : llvm::zip_equal(values, splits.tensors[0]))
    for (int64_t size : sizes)
      result.push_back(sizes.size() > 1 ? whole(size) : value);
  return result;
}

int64_t zero(int64_t) { return 0; }
int64_t one(int64_t) { return 1; }
int64_t same(int64_t size) { return size; }

void splitSlice(SliceOp op, const DimSplits &splits) {
  op.setStartIndices(ofEach(op.getStartIndices(), splits, zero));
  op.setLimitIndices(ofEach(op.getLimitIndices(), splits, same));
  op.setStrides(ofEach(op.getStrides(), splits, one));
}

void splitPad(PadOp op, const DimSplits &splits) {
  op.setEdgePaddingLow(ofEach(op.getEdgePaddingLow(), splits, zero));
  op.setEdgePaddingHigh(ofEach(op.getEdgePaddingHigh(), splits, zero));
  op.setInteriorPadding(ofEach(op.getInteriorPadding(), splits, zero));
}

DotDimensionNumbersAttr splitNumbers(DotDimensionNumbersAttr numbers,
                                     const DimSplits &splits) {
  return DotDimensionNumbersAttr::get(
      numbers.getContext(), splits.dims(0, numbers.getLhsBatchingDimensions()),
      splits.dims(1, numbers.getRhsBatchingDimensions()),
      splits.dims(0, numbers.getLhsContractingDimensions()),
      splits.dims(1, numbers.getRhsContractingDimensions()));
}

void splitDotGeneral(DotGeneralOp op, const DimSplits &splits) {
  op.setDotDimensionNumbersAttr(
      splitNumbers(op.getDotDimensionNumbers(), splits));
}

/// The result has more dims than a dot's may.
struct DotModel : DimSplitOpInterface::ExternalModel<DotModel, DotOp> {
  Operation *splitDims(Operation *op, OpBuilder &builder, ValueRange operands,
                       TypeRange results, const DimSplits &splits) const {
    int64_t last = splits.tensors[0].size() - 1;
    auto numbers =
        DotDimensionNumbersAttr::get(op->getContext(), {}, {}, {last}, {0});
    return DotGeneralOp::create(builder, op->getLoc(), results[0], operands[0],
                                operands[1], splitNumbers(numbers, splits),
                                cast<DotOp>(op).getPrecisionConfigAttr(),
                                DotAlgorithmAttr());
  }
};

/// An index counts positions of a dim, also where windows have all of it.
bool isAnySplit(const DimSplits &splits, int64_t tensor,
                ArrayRef<int64_t> dims) {
  return llvm::any_of(dims,
                      [&](int64_t dim) { return splits.isSplit(tensor, dim); });
}

bool maySplitGather(GatherOp op, const DimSplits &splits) {
  return !isAnySplit(splits, 0, op.getDimensionNumbers().getStartIndexMap());
}

bool maySplitScatter(ScatterOp op, const DimSplits &splits) {
  return !isAnySplit(
      splits, 0, op.getScatterDimensionNumbers().getScatterDimsToOperandDims());
}

void splitGather(GatherOp op, const DimSplits &splits) {
  GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  op.setDimensionNumbersAttr(GatherDimensionNumbersAttr::get(
      op.getContext(), splits.dims(2, numbers.getOffsetDims()),
      splits.dims(0, numbers.getCollapsedSliceDims()),
      splits.dims(0, numbers.getOperandBatchingDims()),
      splits.dims(1, numbers.getStartIndicesBatchingDims()),
      splits.dims(0, numbers.getStartIndexMap()),
      splits.first(1, numbers.getIndexVectorDim())));
  // A window has one position of a batching dim, and all of others that are
  // split.
  SmallVector<int64_t> sizes;
  for (auto [size, parts] :
       llvm::zip_equal(op.getSliceSizes(), splits.tensors[0]))
    for (int64_t part : parts)
      sizes.push_back(size == 1 ? 1 : parts.size() > 1 ? part : size);
  op.setSliceSizes(sizes);
}

/// All inputs have the dims of the first one, all updates those of theirs.
void splitScatter(ScatterOp op, const DimSplits &splits) {
  int64_t indices = op.getInputs().size(), updates = indices + 1;
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  op.setScatterDimensionNumbersAttr(ScatterDimensionNumbersAttr::get(
      op.getContext(), splits.dims(updates, numbers.getUpdateWindowDims()),
      splits.dims(0, numbers.getInsertedWindowDims()),
      splits.dims(0, numbers.getInputBatchingDims()),
      splits.dims(indices, numbers.getScatterIndicesBatchingDims()),
      splits.dims(0, numbers.getScatterDimsToOperandDims()),
      splits.first(indices, numbers.getIndexVectorDim())));
}

template <typename OpT, auto split, auto may = always<OpT>>
void attach(MLIRContext &context) {
  OpT::template attachInterface<AttributeModel<OpT, split, may>>(context);
}

} // namespace

void shardonnay::attachSplitDimsModels(MLIRContext &context) {
  ReshapeOp::attachInterface<ReshapeModel>(context);
  DotOp::attachInterface<DotModel>(context);
  attach<DotGeneralOp, splitDotGeneral>(context);
  attach<BroadcastInDimOp, splitBroadcast>(context);
  attach<TransposeOp, splitTranspose>(context);
  attach<ReduceOp, splitReduce>(context);
  attach<ConcatenateOp, splitConcatenate>(context);
  attach<SortOp, splitSort>(context);
  attach<ReverseOp, splitReverse>(context);
  attach<SliceOp, splitSlice>(context);
  attach<PadOp, splitPad>(context);
  attach<GatherOp, splitGather, maySplitGather>(context);
  attach<ScatterOp, splitScatter, maySplitScatter>(context);
  BitcastConvertOp::attachInterface<TypesModel<BitcastConvertOp>>(context);
  OptimizationBarrierOp::attachInterface<TypesModel<OptimizationBarrierOp>>(
      context);
}

void shardonnay::attachChloSplitDimsModels(MLIRContext &context) {
  chlo::TopKOp::attachInterface<TypesModel<chlo::TopKOp>>(context);
}
