//===- Dynamic.cpp - shapes that are data ---------------------------------===//
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

void StablehloDialect::addDynamicOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Dynamic.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Dynamic.cpp.inc"

/// That the known sizes of a result agree with what says them.
static LogicalResult checkRank(Location loc, Value sizes, Value result) {
  int64_t count = tensorType(sizes).getDimSize(0);
  if (count == tensorType(result).getRank())
    return success();
  return shardonnay::pointAtOperand(
      emitError(loc) << "has " << count << " sizes for a result of type "
                     << result.getType() << ", expected one per dim",
      sizes);
}

LogicalResult DynamicBroadcastInDimOp::verify() {
  RankedTensorType operand = tensorType(getOperand());
  RankedTensorType result = tensorType(getResult());
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  if (!haveCompatibleElements(operand, result))
    return shardonnay::pointAtOperand(
        emitOpError("expected elements of one type, got ")
            << operand << " and " << result,
        getOperand());
  if (failed(checkCount(getLoc(), "broadcast dimensions", dims.size(),
                        operand.getRank())) ||
      failed(checkDims(getLoc(), "the broadcast dimensions", dims,
                       result.getRank())))
    return failure();
  if (failed(checkBroadcast(*this, dims)))
    return failure();
  SmallVector<int64_t> known(
      getKnownExpandingDimensions().value_or(ArrayRef<int64_t>()));
  llvm::append_range(
      known, getKnownNonexpandingDimensions().value_or(ArrayRef<int64_t>()));
  return checkDims(getLoc(), "the known dimensions", known, operand.getRank());
}

LogicalResult DynamicReshapeOp::verify() {
  RankedTensorType operand = tensorType(getOperand());
  RankedTensorType result = tensorType(getResult());
  if (!haveCompatibleElements(operand, result))
    return shardonnay::pointAtOperand(
        emitOpError("expected elements of one type, got ")
            << operand << " and " << result,
        getOperand());
  if (failed(checkNumElements(*this)))
    return failure();
  return checkRank(getLoc(), getOutputShape(), getResult());
}

/// That each dim of `operand` has an element of `sizes`.
static LogicalResult checkPerDim(Location loc, Value sizes, Value operand) {
  return checkCount(loc, "sizes, one per dim", tensorType(sizes).getDimSize(0),
                    tensorType(operand).getRank());
}

LogicalResult DynamicPadOp::verify() {
  return checkPerDim(getLoc(), getEdgePaddingLow(), getOperand());
}

LogicalResult RealDynamicSliceOp::verify() {
  return checkPerDim(getLoc(), getStartIndices(), getOperand());
}

LogicalResult DynamicIotaOp::verify() {
  return checkDims(getLoc(), "the count", getIotaDimension(),
                   tensorType(getResult()).getRank());
}

LogicalResult GetDimensionSizeOp::inferReturnTypes(MLIRContext *context,
                                                   MaybeLoc location,
                                                   Adaptor adaptor,
                                                   Types &types) {
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32)));
  return checkDims(location, "the size", adaptor.getDimension(),
                   tensorType(adaptor.getOperand()).getRank());
}

/// The size is unknown from here on; it was known to be at most the old one.
LogicalResult SetDimensionSizeOp::inferReturnTypes(MLIRContext *context,
                                                   MaybeLoc location,
                                                   Adaptor adaptor,
                                                   Types &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  int64_t dim = adaptor.getDimension();
  if (failed(checkDims(location, "the size", dim, operand.getRank())))
    return failure();
  SmallVector<int64_t> shape(operand.getShape());
  SmallVector<int64_t> bounds(shape.size(), ShapedType::kDynamic);
  if (auto given = dyn_cast_if_present<BoundsAttr>(operand.getEncoding()))
    bounds.assign(given.getBounds().begin(), given.getBounds().end());
  if (!ShapedType::isDynamic(shape[dim]))
    bounds[dim] = shape[dim];
  shape[dim] = ShapedType::kDynamic;
  bool bounded = llvm::any_of(
      bounds, [](int64_t bound) { return !ShapedType::isDynamic(bound); });
  types.push_back(RankedTensorType::get(
      shape, operand.getElementType(),
      bounded ? BoundsAttr::get(context, bounds) : BoundsAttr()));
  return success();
}
