//===- Batched.cpp - rows and matrices, whole -----------------------------===//
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

void StablehloDialect::addBatchedOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Batched.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Batched.cpp.inc"

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

int64_t SortOp::getSortDim() {
  auto type = cast<RankedTensorType>(getInputs().front().getType());
  int64_t dim = getDimension();
  return dim < 0 ? dim + type.getRank() : dim;
}

LogicalResult SortOp::verify() {
  if (getInputs().empty())
    return emitOpError("sorts nothing");
  if (getNumResults() != getNumOperands() ||
      !areCompatible(getOperandTypes(), getResultTypes()))
    return emitOpError("expected results of the operands' types ")
           << getOperandTypes() << ", got " << getResultTypes();
  int64_t dim = getDimension();
  int64_t rank = cast<RankedTensorType>(getInputs()[0].getType()).getRank();
  if (dim < -rank || dim >= rank)
    return emitOpError("sorts dim ")
           << dim << ", expected " << -rank << " <= dim < " << rank;
  return success();
}

LogicalResult SortOp::verifyRegions() {
  SmallVector<Type> expected;
  for (Type type : getOperandTypes())
    expected.append(2, RankedTensorType::get({}, getElementTypeOrSelf(type)));
  Block &block = getComparator().front();
  if (block.getArgumentTypes() != TypeRange(expected))
    return emitOpError("expected a comparator that takes ")
           << expected << ", got " << block.getArgumentTypes();
  Operation *end = block.getTerminator();
  auto pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (end->getOperandTypes() != TypeRange(Type(pred)))
    return shardonnay::pointAt(
        end->emitOpError("expected a comparator that returns ")
            << pred << ", got " << end->getOperandTypes(),
        getLoc(), "the sort is here");
  return success();
}

//===----------------------------------------------------------------------===//
// Fourier transforms
//===----------------------------------------------------------------------===//

/// That the last dims of `shape` have the sizes `lengths`, where known.
static LogicalResult checkLengths(MaybeLoc location, ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> lengths) {
  ArrayRef<int64_t> last = shape.take_back(lengths.size());
  if (llvm::all_of_zip(last, lengths, sizesMatch))
    return success();
  return emitOptionalError(location, "the transform has lengths [", lengths,
                           "], but the dims sizes [", last, "]");
}

/// The type of real numbers that `element` is, or is made of two of.
static Type realOf(Type element) {
  auto pair = dyn_cast<ComplexType>(element);
  return pair ? pair.getElementType() : element;
}

LogicalResult FftOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                      Adaptor adaptor, Types &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> lengths = adaptor.getFftLength();
  int64_t count = lengths.size();
  if (count < 1 || count > 3 || count > operand.getRank())
    return emitOptionalError(location, "transforms ", count, " dims of ",
                             operand, ", expected 1 to 3");
  FftType kind = adaptor.getFftType();
  Type element = operand.getElementType();
  bool isReal = kind == FftType::RFFT;
  if (isReal ? !element.isF32() && !element.isF64()
             : !isa<ComplexType>(element))
    return emitOptionalError(location, stringifyFftType(kind), " of ", element,
                             ", expected ", isReal ? "f32 or f64" : "complex");

  // Half of the spectrum of real numbers says it all.
  SmallVector<int64_t> shape(operand.getShape());
  int64_t half = lengths.back() == 0 ? 0 : lengths.back() / 2 + 1;
  if (isReal) {
    if (failed(checkLengths(location, shape, lengths)))
      return failure();
    shape.back() = half;
    element = ComplexType::get(element);
  } else if (kind == FftType::IRFFT) {
    SmallVector<int64_t> spectrum(lengths);
    spectrum.back() = half;
    if (failed(checkLengths(location, shape, spectrum)))
      return failure();
    shape.back() = lengths.back();
    element = realOf(element);
  }
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// That the last two dims of `type` have one size.
static LogicalResult checkSquare(MaybeLoc location, RankedTensorType type) {
  int64_t rank = type.getRank();
  if (rank >= 2 &&
      sizesMatch(type.getDimSize(rank - 2), type.getDimSize(rank - 1)))
    return success();
  return emitOptionalError(location, "expected square matrices, got ", type);
}

LogicalResult CholeskyOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                           Adaptor adaptor, Types &types) {
  auto type = cast<RankedTensorType>(adaptor.getA().getType());
  types.push_back(type);
  return checkSquare(location, type);
}

LogicalResult TriangularSolveOp::inferReturnTypes(MLIRContext *,
                                                  MaybeLoc location,
                                                  Adaptor adaptor,
                                                  Types &types) {
  auto a = cast<RankedTensorType>(adaptor.getA().getType());
  auto b = cast<RankedTensorType>(adaptor.getB().getType());
  if (failed(checkSquare(location, a)))
    return failure();
  int64_t rank = a.getRank();
  if (b.getRank() != rank)
    return emitOptionalError(location, "expected operands of one rank, got ", a,
                             " and ", b);
  if (!sizesMatch(a.getDimSize(rank - 1),
                  b.getDimSize(adaptor.getLeftSide() ? rank - 2 : rank - 1)))
    return emitOptionalError(location, "can't multiply matrices of ", a,
                             " and solutions like ", b);
  if (!llvm::all_of_zip(a.getShape().drop_back(2), b.getShape().drop_back(2),
                        sizesMatch))
    return emitOptionalError(location, "expected equal batch dims, got ", a,
                             " and ", b);
  if (adaptor.getTransposeA() == Transpose::TRANSPOSE_INVALID)
    return emitOptionalError(
        location, "expected transpose_a NO_TRANSPOSE, TRANSPOSE or ADJOINT, "
                  "got TRANSPOSE_INVALID");
  types.push_back(b);
  return success();
}
