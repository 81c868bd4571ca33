//===- Convolution.cpp - sums of products over windows --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/support/Diagnostics.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addConvolutionOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Convolution.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Convolution.cpp.inc"

//===----------------------------------------------------------------------===//
// The dims' roles
//===----------------------------------------------------------------------===//

/// That the dims of one tensor of `rank` have one role each.
static LogicalResult checkRoles(Location loc, StringRef what, int64_t first,
                                int64_t second, ArrayRef<int64_t> spatial,
                                int64_t rank) {
  SmallVector<int64_t> dims = {first, second};
  dims.append(spatial.begin(), spatial.end());
  if (failed(checkCount(loc, ("dims of " + what).str(), dims.size(), rank)))
    return failure();
  return checkDims(loc, what, dims, rank);
}

static LogicalResult checkNumbers(Location loc, ConvDimensionNumbersAttr n,
                                  int64_t rank) {
  return failure(
      failed(checkRoles(loc, "the input", n.getInputBatchDimension(),
                        n.getInputFeatureDimension(),
                        n.getInputSpatialDimensions(), rank)) ||
      failed(checkRoles(loc, "the kernel", n.getKernelInputFeatureDimension(),
                        n.getKernelOutputFeatureDimension(),
                        n.getKernelSpatialDimensions(), rank)) ||
      failed(checkRoles(loc, "the output", n.getOutputBatchDimension(),
                        n.getOutputFeatureDimension(),
                        n.getOutputSpatialDimensions(), rank)));
}

/// That `count` divides a `size`, where that is known.
static LogicalResult checkDivides(Location loc, StringRef what, int64_t size,
                                  int64_t count) {
  if (ShapedType::isDynamic(size) || size % count == 0)
    return success();
  return emitError(loc) << "expected " << what << " to be a multiple of "
                        << count << ", got " << size;
}

/// The groups divide batch and features of both operands.
template <typename OpT> static LogicalResult checkFeatures(OpT op) {
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  Location loc = op.getLoc();
  int64_t features = op.getFeatureGroupCount();
  int64_t batches = op.getBatchGroupCount();
  int64_t inputBatch = lhs.getDimSize(numbers.getInputBatchDimension());
  int64_t inputFeature = lhs.getDimSize(numbers.getInputFeatureDimension());
  int64_t kernelInput =
      rhs.getDimSize(numbers.getKernelInputFeatureDimension());
  int64_t kernelOutput =
      rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  if (features > 1 && batches > 1)
    return op.emitOpError("has ")
           << features << " feature groups and " << batches
           << " batch groups, expected one of them to be 1";
  if (failed(
          checkDivides(loc, "the input's batch size", inputBatch, batches)) ||
      failed(checkDivides(loc, "the number of the input's features",
                          inputFeature, features)) ||
      failed(checkDivides(loc, "the number of the kernel's output features",
                          kernelOutput, batches)) ||
      failed(checkDivides(loc, "the number of the kernel's output features",
                          kernelOutput, features)))
    return failure();
  if (!ShapedType::isDynamic(inputFeature) &&
      !ShapedType::isDynamic(kernelInput) &&
      inputFeature / features != kernelInput)
    return shardonnay::pointAt(
        op.emitOpError("has ")
            << inputFeature << " input features in " << features
            << " groups, but the kernel takes " << kernelInput,
        op.getRhs().getLoc(), "the kernel is made here");
  return success();
}

/// The shape of the result by the window, if `padding` is the op's.
template <typename OpT>
static FailureOr<SmallVector<int64_t>>
shapeOfResult(OpT op, std::optional<DenseIntElementsAttr> padding) {
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  Location loc = op.getLoc();
  SmallVector<int64_t> sizes;
  for (int64_t dim : numbers.getKernelSpatialDimensions())
    sizes.push_back(rhs.getDimSize(dim));
  FailureOr<SmallVector<WindowDim>> window = readWindow(
      loc, {sizes, op.getWindowStrides(), padding, op.getLhsDilation(),
            op.getRhsDilation(), op.getWindowReversal()});
  if (failed(window))
    return failure();
  SmallVector<int64_t> base;
  for (int64_t dim : numbers.getInputSpatialDimensions())
    base.push_back(lhs.getDimSize(dim));
  if (failed(checkBase(loc, base, *window)))
    return failure();
  SmallVector<int64_t> shape(lhs.getRank());
  int64_t inputBatch = lhs.getDimSize(numbers.getInputBatchDimension());
  shape[numbers.getOutputBatchDimension()] =
      ShapedType::isDynamic(inputBatch)
          ? inputBatch
          : inputBatch / static_cast<int64_t>(op.getBatchGroupCount());
  shape[numbers.getOutputFeatureDimension()] =
      rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  for (auto [in, out, dim] :
       llvm::zip(numbers.getInputSpatialDimensions(),
                 numbers.getOutputSpatialDimensions(), *window))
    shape[out] = dim.count(lhs.getDimSize(in));
  return shape;
}

/// What both convolutions hold, and the shape of the result if `padding` is
/// the op's.
template <typename OpT>
static FailureOr<SmallVector<int64_t>>
checkConvolution(OpT op, std::optional<DenseIntElementsAttr> padding) {
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  RankedTensorType result = op.getResult().getType();
  Location loc = op.getLoc();
  int64_t rank = lhs.getRank();
  if (failed(checkCount(loc, "dims of the kernel, as the input has",
                        rhs.getRank(), rank)) ||
      failed(checkCount(loc, "dims of the result, as the input has",
                        result.getRank(), rank)))
    return failure();
  if (getElementTypeOrSelf(lhs) != getElementTypeOrSelf(rhs) &&
      !areCompatible(lhs.clone(ArrayRef<int64_t>()),
                     rhs.clone(ArrayRef<int64_t>())))
    return shardonnay::pointAtOperand(
        shardonnay::pointAtOperand(
            op.emitOpError("expected operands of one element type, got ")
                << lhs << " and " << rhs,
            op.getLhs(), "lhs is made here"),
        op.getRhs(), "rhs is made here");
  ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  if (failed(checkNumbers(loc, numbers, rank)))
    return failure();

  if (failed(checkFeatures(op)))
    return failure();
  if (auto precision = op.getPrecisionConfig())
    if (precision->size() > 2)
      return op.emitOpError("expected a precision for each of 2 operands, got ")
             << precision->size();
  return shapeOfResult(op, padding);
}

LogicalResult ConvolutionOp::verify() {
  FailureOr<SmallVector<int64_t>> shape = checkConvolution(*this, getPadding());
  if (failed(shape))
    return failure();
  return checkShape(getLoc(), "the result of the convolution",
                    getResult().getType().getShape(), *shape);
}

SmallVector<WindowDim> ConvolutionOp::getWindow() {
  SmallVector<int64_t> sizes;
  for (int64_t dim : getDimensionNumbers().getKernelSpatialDimensions())
    sizes.push_back(getRhs().getType().getDimSize(dim));
  return *readWindow(std::nullopt,
                     {sizes, getWindowStrides(), getPadding(), getLhsDilation(),
                      getRhsDilation(), getWindowReversal()});
}

LogicalResult DynamicConvOp::verify() {
  if (failed(checkConvolution(*this, std::nullopt)))
    return failure();
  // The sizes of the result are data too.
  SmallVector<int64_t> padding = {getLhs().getType().getRank() - 2, 2};
  return checkShape(getLoc(), "the padding", getPadding().getType().getShape(),
                    padding);
}
