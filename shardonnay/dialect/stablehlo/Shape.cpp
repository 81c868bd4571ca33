//===- Shape.cpp - where elements come from -------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/support/Diagnostics.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Shape.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Shape.cpp.inc"

static quant::UniformQuantizedPerAxisType
withQuantizedDim(quant::UniformQuantizedPerAxisType type, int64_t dim) {
  return quant::UniformQuantizedPerAxisType::get(
      type.getFlags(), type.getStorageType(), type.getExpressedType(),
      type.getScales(), type.getZeroPoints(), dim, type.getStorageTypeMin(),
      type.getStorageTypeMax());
}

/// An inferred type, without bounds.
static Type withShape(RankedTensorType type, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, type.getElementType());
}

//===----------------------------------------------------------------------===//
// constant, iota
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, MaybeLoc,
                                           Adaptor adaptor, Types &types) {
  types.push_back(adaptor.getValue().getType());
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

void ConstantOp::getAsmResultNames(
    function_ref<void(Value, StringRef)> setNameFn) {
  bool isInteger = isa<IntegerType>(getOutput().getType().getElementType());
  setNameFn(getOutput(), isInteger ? "c" : "cst");
}

LogicalResult IotaOp::verify() {
  if (!getOutput().getType().hasStaticShape())
    return emitOpError("expected a result of known sizes, got ")
           << getOutput().getType();
  if (static_cast<int64_t>(getIotaDimension()) >=
      getOutput().getType().getRank())
    return emitOpError("counts along dim ")
           << getIotaDimension() << ", expected one of "
           << getOutput().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// broadcast_in_dim, reshape, bitcast_convert
//===----------------------------------------------------------------------===//

/// All sizes are known, or all but one, which has a bound.
static bool hasBoundedShape(RankedTensorType type) {
  if (type.hasStaticShape())
    return true;
  auto bounds = dyn_cast_if_present<BoundsAttr>(type.getEncoding());
  if (!bounds || type.getNumDynamicDims() != 1)
    return false;
  const auto *dim = llvm::find_if(type.getShape(), ShapedType::isDynamic);
  return !ShapedType::isDynamic(
      bounds.getBounds()[dim - type.getShape().begin()]);
}

static LogicalResult checkBounded(Operation *op) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (hasBoundedShape(result))
    return success();
  return op->emitOpError("expected a result of known sizes, or one unknown "
                         "size with a bound, got ")
         << result;
}

LogicalResult BroadcastInDimOp::verify() {
  if (failed(checkBounded(*this)))
    return failure();
  RankedTensorType operand = getOperand().getType();
  RankedTensorType result = getResult().getType();
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  if (failed(checkCount(getLoc(), "broadcast dimensions", dims.size(),
                        operand.getRank())) ||
      failed(checkDims(getLoc(), "the broadcast dimensions", dims,
                       result.getRank())))
    return failure();
  Type element = operand.getElementType();
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(element))
    element = withQuantizedDim(perAxis, dims[perAxis.getQuantizedDimension()]);
  if (element != result.getElementType())
    return shardonnay::pointAtOperand(
        emitOpError("expected a result with elements of type ")
            << element << ", got " << result,
        getOperand());
  return checkBroadcast(*this, dims);
}

/// One that only adds dims of size 1 is a reshape: propagation passes that in
/// both directions, a broadcast only backward.
LogicalResult BroadcastInDimOp::canonicalize(BroadcastInDimOp op,
                                             PatternRewriter &rewriter) {
  RankedTensorType operand = op.getOperand().getType();
  RankedTensorType result = op.getResult().getType();
  if (operand == result || !operand.hasStaticShape() ||
      !result.hasStaticShape() || result.getNumElements() == 0 ||
      operand.getNumElements() != result.getNumElements() ||
      !llvm::is_sorted(op.getBroadcastDimensions()))
    return failure();
  auto reshape =
      ReshapeOp::create(rewriter, op.getLoc(), result, op.getOperand());
  reshape->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, reshape);
  return success();
}

LogicalResult ReshapeOp::verify() {
  if (failed(checkBounded(*this)))
    return failure();
  return checkNumElements(*this);
}

/// The bits of one element.
static int64_t bitWidth(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * bitWidth(complex.getElementType());
  if (auto quantized = dyn_cast<quant::QuantizedType>(element))
    return quantized.getStorageTypeIntegralWidth();
  return element.getIntOrFloatBitWidth();
}

LogicalResult BitcastConvertOp::verify() {
  RankedTensorType narrow = getOperand().getType();
  RankedTensorType wide = getResult().getType();
  if (isa<ComplexType>(narrow.getElementType()) !=
      isa<ComplexType>(wide.getElementType()))
    return shardonnay::pointAtOperand(
        emitOpError("can't convert between complex and other elements"),
        getOperand());
  if (bitWidth(narrow.getElementType()) > bitWidth(wide.getElementType()))
    std::swap(narrow, wide);
  SmallVector<int64_t> expected(wide.getShape());
  int64_t narrowBits = bitWidth(narrow.getElementType());
  int64_t wideBits = bitWidth(wide.getElementType());
  if (wideBits % narrowBits != 0)
    return shardonnay::pointAtOperand(
        emitOpError("can't split elements of ")
            << wideBits << " bits into elements of " << narrowBits,
        getOperand());
  if (wideBits != narrowBits)
    expected.push_back(wideBits / narrowBits);
  return checkShape(getLoc(), "the tensor of narrower elements",
                    narrow.getShape(), expected);
}

//===----------------------------------------------------------------------===//
// transpose, reverse
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                            Adaptor adaptor, Types &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (failed(checkCount(location, "dims in the permutation", permutation.size(),
                        operand.getRank())) ||
      failed(checkDims(location, "the permutation", permutation,
                       operand.getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(operand.getDimSize(dim));
  Type element = operand.getElementType();
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(element))
    element = withQuantizedDim(
        perAxis, llvm::find(permutation, perAxis.getQuantizedDimension()) -
                     permutation.begin());
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

LogicalResult ReverseOp::verify() {
  return checkDims(getLoc(), "the dims to reverse", getDimensions(),
                   getOperand().getType().getRank());
}

//===----------------------------------------------------------------------===//
// slice, concatenate, pad
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                        Adaptor adaptor, Types &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  ArrayRef<int64_t> starts = adaptor.getStartIndices();
  ArrayRef<int64_t> limits = adaptor.getLimitIndices();
  ArrayRef<int64_t> strides = adaptor.getStrides();
  for (ArrayRef<int64_t> indices : {starts, limits, strides})
    if (failed(checkCount(location, "ranges, one per dim", indices.size(),
                          operand.getRank())))
      return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(operand.getShape())) {
    int64_t start = starts[dim], limit = limits[dim], stride = strides[dim];
    bool isBeyond = !ShapedType::isDynamic(size) && limit > size;
    if (start < 0 || limit < start || isBeyond || stride < 1)
      return emitOptionalError(
          location, "slices dim ", dim, " by ", start, ":", limit, ":", stride,
          ", expected 0 <= start <= limit <= ", size, " and stride >= 1");
    shape.push_back(llvm::divideCeilSigned(limit - start, stride));
  }
  types.push_back(withShape(operand, shape));
  return success();
}

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                              Adaptor adaptor, Types &types) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(location, "concatenates nothing");
  RankedTensorType first = tensorType(adaptor.getInputs().front());
  int64_t dim = adaptor.getDimension();
  if (failed(checkDims(location, "the concatenation", dim, first.getRank())))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : adaptor.getInputs().drop_front()) {
    RankedTensorType type = tensorType(input);
    bool matches = type.getElementType() == first.getElementType() &&
                   type.getRank() == first.getRank();
    for (int64_t i = 0; matches && i < first.getRank(); ++i) {
      if (i != dim)
        matches = sizesMatch(shape[i], type.getDimSize(i));
      else if (type.isDynamicDim(i) || ShapedType::isDynamic(shape[i]))
        shape[i] = ShapedType::kDynamic;
      else
        shape[i] += type.getDimSize(i);
    }
    if (!matches)
      return emitOptionalError(location, "can't concatenate ", type, " to ",
                               first, " in dim ", dim);
  }
  types.push_back(withShape(first, shape));
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                      Adaptor adaptor, Types &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  ArrayRef<int64_t> low = adaptor.getEdgePaddingLow();
  ArrayRef<int64_t> high = adaptor.getEdgePaddingHigh();
  ArrayRef<int64_t> interior = adaptor.getInteriorPadding();
  if (operand.getElementType() !=
      getElementTypeOrSelf(adaptor.getPaddingValue()))
    return emitOptionalError(location, "can't pad ", operand,
                             " with a value of type ",
                             adaptor.getPaddingValue().getType());
  for (ArrayRef<int64_t> padding : {low, high, interior})
    if (failed(checkCount(location, "paddings, one per dim", padding.size(),
                          operand.getRank())))
      return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(operand.getShape())) {
    if (interior[dim] < 0)
      return emitOptionalError(location, "pads ", interior[dim],
                               " elements between those of dim ", dim,
                               ", expected at least 0");
    if (ShapedType::isDynamic(size)) {
      shape.push_back(size);
      continue;
    }
    int64_t padded, between;
    if (llvm::MulOverflow(std::max<int64_t>(size - 1, 0), interior[dim],
                          between) ||
        llvm::AddOverflow(size, between, padded) ||
        llvm::AddOverflow(padded, low[dim], padded) ||
        llvm::AddOverflow(padded, high[dim], padded))
      return emitOptionalError(location, "pads dim ", dim, " of size ", size,
                               " to more than 2^63 positions");
    shape.push_back(padded);
    if (padded < 0)
      return emitOptionalError(location, "pads dim ", dim,
                               " to the negative size ", shape.back());
  }
  types.push_back(withShape(operand, shape));
  return success();
}
