//===- DynamicCanonicalize.cpp - shapes that are known after all ----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op whose sizes are data becomes the op whose sizes are attributes, where
// types or constants say them: shapes are refined by others, who leave the op.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/interfaces/ShardingRule.h"

using namespace mlir;
using namespace mlir::stablehlo;
using shardonnay::hasStaticShapes;

/// The elements of a constant of integers; nothing of another value.
static std::optional<SmallVector<int64_t>> constantSizes(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  return llvm::map_to_vector(
      elements.getValues<APInt>(),
      [](const APInt &size) { return size.getSExtValue(); });
}

/// `op` becomes a `StaticOp` with its result type and discardable attributes.
template <typename StaticOp, typename... Args>
static LogicalResult become(Operation *op, PatternRewriter &rewriter,
                            Args &&...args) {
  auto made = StaticOp::create(rewriter, op->getLoc(), op->getResultTypes()[0],
                               std::forward<Args>(args)...);
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, made);
  return success();
}

LogicalResult DynamicBroadcastInDimOp::canonicalize(DynamicBroadcastInDimOp op,
                                                    PatternRewriter &rewriter) {
  if (!hasStaticShapes(op))
    return failure();
  return become<BroadcastInDimOp>(op, rewriter, op.getOperand(),
                                  op.getBroadcastDimensions());
}

LogicalResult DynamicReshapeOp::canonicalize(DynamicReshapeOp op,
                                             PatternRewriter &rewriter) {
  if (!hasStaticShapes(op))
    return failure();
  return become<ReshapeOp>(op, rewriter, op.getOperand());
}

LogicalResult DynamicIotaOp::canonicalize(DynamicIotaOp op,
                                          PatternRewriter &rewriter) {
  if (!hasStaticShapes(op))
    return failure();
  return become<IotaOp>(op, rewriter, op.getIotaDimension());
}

LogicalResult DynamicPadOp::canonicalize(DynamicPadOp op,
                                         PatternRewriter &rewriter) {
  auto low = constantSizes(op.getEdgePaddingLow());
  auto high = constantSizes(op.getEdgePaddingHigh());
  auto interior = constantSizes(op.getInteriorPadding());
  if (!hasStaticShapes(op) || !low || !high || !interior)
    return failure();
  // Sizes that contradict the type are an error where they are used.
  ArrayRef<int64_t> from = op.getOperand().getType().getShape();
  ArrayRef<int64_t> to = op.getResult().getType().getShape();
  for (size_t dim = 0; dim < from.size(); ++dim) {
    int64_t between = std::max<int64_t>(from[dim] - 1, 0) * (*interior)[dim];
    if ((*interior)[dim] < 0 ||
        from[dim] + between + (*low)[dim] + (*high)[dim] != to[dim])
      return failure();
  }
  return become<PadOp>(op, rewriter, op.getOperand(), op.getPaddingValue(),
                       *low, *high, *interior);
}

LogicalResult RealDynamicSliceOp::canonicalize(RealDynamicSliceOp op,
                                               PatternRewriter &rewriter) {
  auto starts = constantSizes(op.getStartIndices());
  auto limits = constantSizes(op.getLimitIndices());
  auto strides = constantSizes(op.getStrides());
  if (!hasStaticShapes(op) || !starts || !limits || !strides)
    return failure();
  ArrayRef<int64_t> from = op.getOperand().getType().getShape();
  ArrayRef<int64_t> to = op.getResult().getType().getShape();
  for (size_t dim = 0; dim < from.size(); ++dim) {
    int64_t start = (*starts)[dim], limit = (*limits)[dim];
    int64_t stride = (*strides)[dim];
    if (start < 0 || limit < start || limit > from[dim] || stride < 1 ||
        (limit - start + stride - 1) / stride != to[dim])
      return failure();
  }
  return become<SliceOp>(op, rewriter, op.getOperand(), *starts, *limits,
                         *strides);
}

/// A window's size is 1 in dims that the result has not, else the result's.
LogicalResult DynamicGatherOp::canonicalize(DynamicGatherOp op,
                                            PatternRewriter &rewriter) {
  if (!hasStaticShapes(op))
    return failure();
  GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<int64_t> sizes(op.getOperand().getType().getRank(), 1);
  ArrayRef<int64_t> to = op.getResult().getType().getShape();
  const auto *next = numbers.getOffsetDims().begin();
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(numbers.getCollapsedSliceDims(), dim) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), dim)) {
      if (next == numbers.getOffsetDims().end())
        return failure();
      size = to[*next++];
    }
  auto made = GatherOp::create(rewriter, op.getLoc(), op.getType(),
                               op.getOperand(), op.getStartIndices(), numbers,
                               sizes, op.getIndicesAreSorted());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, made);
  return success();
}

LogicalResult DynamicConvOp::canonicalize(DynamicConvOp op,
                                          PatternRewriter &rewriter) {
  auto padding = constantSizes(op.getPadding());
  int64_t spatial = op.getDimensionNumbers().getInputSpatialDimensions().size();
  if (!hasStaticShapes(op) || !padding ||
      static_cast<int64_t>(padding->size()) != 2 * spatial)
    return failure();
  auto type = RankedTensorType::get({spatial, 2}, rewriter.getI64Type());
  return become<ConvolutionOp>(
      op, rewriter, op.getLhs(), op.getRhs(), op.getWindowStridesAttr(),
      DenseIntElementsAttr::get(type, *padding), op.getLhsDilationAttr(),
      op.getRhsDilationAttr(), op.getWindowReversalAttr(),
      op.getDimensionNumbersAttr(), op.getFeatureGroupCountAttr(),
      op.getBatchGroupCountAttr(), op.getPrecisionConfigAttr());
}

LogicalResult GetDimensionSizeOp::canonicalize(GetDimensionSizeOp op,
                                               PatternRewriter &rewriter) {
  RankedTensorType operand = op.getOperand().getType();
  if (operand.isDynamicDim(op.getDimension()))
    return failure();
  int32_t size = operand.getDimSize(op.getDimension());
  return become<ConstantOp>(
      op, rewriter, DenseIntElementsAttr::get(op.getResult().getType(), size));
}

/// The size that the dim has already: TensorFlow writes it behind each sort.
LogicalResult SetDimensionSizeOp::canonicalize(SetDimensionSizeOp op,
                                               PatternRewriter &rewriter) {
  auto size = constantSizes(op.getSize());
  RankedTensorType operand = op.getOperand().getType();
  if (!size || operand != op.getResult().getType() ||
      (*size)[0] != operand.getDimSize(op.getDimension()))
    return failure();
  rewriter.replaceOp(op, op.getOperand());
  return success();
}
