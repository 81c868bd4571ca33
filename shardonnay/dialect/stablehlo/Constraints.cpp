//===- Constraints.cpp - checks that several ops share --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/support/Diagnostics.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::stablehlo;

LogicalResult stablehlo::checkCount(MaybeLoc location, StringRef what,
                                    int64_t count, int64_t expected) {
  if (count == expected)
    return success();
  return emitOptionalError(location, "expected ", expected, " ", what, ", got ",
                           count);
}

LogicalResult stablehlo::checkDims(MaybeLoc location, StringRef what,
                                   ArrayRef<int64_t> dims, int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank)
      return emitOptionalError(location, "dim ", dim, " of ", what,
                               " is out of range, expected 0 <= dim < ", rank);
    if (seen.test(dim))
      return emitOptionalError(location, "dim ", dim, " of ", what,
                               " comes twice");
    seen.set(dim);
  }
  return success();
}

LogicalResult stablehlo::checkSorted(MaybeLoc location, StringRef what,
                                     ArrayRef<int64_t> dims) {
  if (llvm::is_sorted(dims))
    return success();
  return emitOptionalError(location, "expected ", what,
                           " in increasing order, got [", dims, "]");
}

/// `4, ?`
static std::string spell(ArrayRef<int64_t> shape) {
  std::string text;
  for (auto [i, size] : llvm::enumerate(shape))
    text += (i ? ", " : "") +
            (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return text;
}

LogicalResult stablehlo::checkShape(MaybeLoc location, StringRef what,
                                    ArrayRef<int64_t> shape,
                                    ArrayRef<int64_t> expected) {
  if (succeeded(verifyCompatibleShape(shape, expected)))
    return success();
  return emitOptionalError(location, what, " has shape [", spell(shape),
                           "], expected [", spell(expected), "]");
}

/// Whether values of element type `from` may be accumulated as `to`.
static bool isPromotable(Type from, Type to) {
  if (from == to)
    return true;
  auto widens = [](Type from, Type to) {
    return from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
  };
  if (auto fromComplex = dyn_cast<ComplexType>(from))
    if (auto toComplex = dyn_cast<ComplexType>(to))
      return widens(fromComplex.getElementType(), toComplex.getElementType());
  if (isa<IntegerType>(from) && isa<IntegerType>(to))
    return widens(from, to);
  return isa<FloatType>(from) && isa<FloatType>(to);
}

LogicalResult stablehlo::checkBroadcast(Operation *op, ArrayRef<int64_t> dims) {
  RankedTensorType operand = tensorType(op->getOperand(0));
  RankedTensorType result = tensorType(op->getResult(0));
  for (auto [i, dim] : llvm::enumerate(dims))
    if (operand.getDimSize(i) != 1 &&
        !sizesMatch(operand.getDimSize(i), result.getDimSize(dim)))
      return shardonnay::pointAtOperand(
          op->emitOpError("can't broadcast dim ")
              << i << " of " << operand << " to dim " << dim << " of " << result
              << ", expected size 1 or the same size",
          op->getOperand(0));
  return success();
}

LogicalResult stablehlo::checkNumElements(Operation *op) {
  RankedTensorType operand = tensorType(op->getOperand(0));
  RankedTensorType result = tensorType(op->getResult(0));
  if (operand.hasStaticShape() && result.hasStaticShape() &&
      operand.getNumElements() != result.getNumElements())
    return shardonnay::pointAtOperand(
        op->emitOpError("expected as many elements as ")
            << operand << " has, got " << result,
        op->getOperand(0));
  return success();
}

LogicalResult stablehlo::checkInits(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumOperands() % 2 != 0)
    return op->emitOpError("expected inputs and as many initial values, got ")
           << op->getNumOperands() << " operands";
  return success();
}

LogicalResult stablehlo::checkCombiner(Operation *op, Region &body,
                                       TypeRange tensors, TypeRange inits,
                                       TypeRange results) {
  Block &block = body.front();
  size_t count = tensors.size();
  if (block.getNumArguments() != 2 * count)
    return op->emitOpError("expected a body with ")
           << 2 * count << " arguments, got " << block.getNumArguments();
  ValueRange returned = block.getTerminator()->getOperands();
  if (returned.size() != count)
    return shardonnay::pointAt(
        op->emitOpError("expected a body that returns ")
            << count << " values, got " << returned.size(),
        block.getTerminator()->getLoc(), "returned here");
  for (size_t i = 0; i < count; ++i) {
    Type element = getElementTypeOrSelf(results[i]);
    auto scalar = RankedTensorType::get({}, element);
    for (Value value : {Value(block.getArgument(i)),
                        Value(block.getArgument(i + count)), returned[i]})
      if (!areCompatible(value.getType(), scalar))
        return shardonnay::pointAt(
            emitError(value.getLoc(), "the body of '")
                << op->getName() << "' combines values of type "
                << value.getType() << ", expected " << scalar
                << " for a result of type " << results[i],
            op->getLoc(), "the op is here");
    for (Type type : {tensors[i], inits[i]})
      if (!isPromotable(getElementTypeOrSelf(type), element))
        return op->emitOpError("can't accumulate elements of type ")
               << getElementTypeOrSelf(type) << " as " << element;
  }
  return success();
}
