//===- Dot.cpp - contractions ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/support/Diagnostics.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addDotOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Dot.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Dot.cpp.inc"

/// That the dims of one operand are in range, and in one role only.
static LogicalResult checkRoles(Location loc, StringRef what,
                                ArrayRef<int64_t> batching,
                                ArrayRef<int64_t> contracting, int64_t rank) {
  return checkDims(
      loc, what,
      llvm::to_vector(llvm::concat<const int64_t>(batching, contracting)),
      rank);
}

/// That the dims are paired, with equal sizes.
static LogicalResult checkPairs(DotGeneralOp op, StringRef role,
                                ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  if (lhs.size() != rhs.size())
    return op.emitOpError("has ")
           << lhs.size() << " " << role << " dims of lhs and " << rhs.size()
           << " of rhs, expected pairs";
  for (auto [left, right] : llvm::zip(lhs, rhs)) {
    int64_t leftSize = op.getLhs().getType().getDimSize(left);
    int64_t rightSize = op.getRhs().getType().getDimSize(right);
    if (!sizesMatch(leftSize, rightSize))
      return shardonnay::pointAtOperand(
          shardonnay::pointAtOperand(
              op.emitOpError("pairs ")
                  << role << " dim " << left << " of lhs, of size " << leftSize
                  << ", with dim " << right << " of rhs, of size " << rightSize,
              op.getLhs(), "lhs is made here"),
          op.getRhs(), "rhs is made here");
  }
  return success();
}

LogicalResult DotGeneralOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  DotDimensionNumbersAttr numbers = getDotDimensionNumbers();
  ArrayRef<int64_t> lhsBatching = numbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> rhsBatching = numbers.getRhsBatchingDimensions();
  ArrayRef<int64_t> lhsContracting = numbers.getLhsContractingDimensions();
  ArrayRef<int64_t> rhsContracting = numbers.getRhsContractingDimensions();
  if (failed(checkRoles(getLoc(), "lhs of the contraction", lhsBatching,
                        lhsContracting, lhs.getRank())) ||
      failed(checkRoles(getLoc(), "rhs of the contraction", rhsBatching,
                        rhsContracting, rhs.getRank())) ||
      failed(checkPairs(*this, "batching", lhsBatching, rhsBatching)) ||
      failed(checkPairs(*this, "contracting", lhsContracting, rhsContracting)))
    return failure();
  if (auto precision = getPrecisionConfig())
    if (!precision->empty() && precision->size() != 2)
      return emitOpError("expected a precision for each of 2 operands, got ")
             << precision->size();

  SmallVector<int64_t> shape;
  for (int64_t dim : lhsBatching)
    shape.push_back(lhs.getDimSize(dim));
  auto addFree = [&](RankedTensorType type, ArrayRef<int64_t> batching,
                     ArrayRef<int64_t> contracting) {
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (!llvm::is_contained(batching, dim) &&
          !llvm::is_contained(contracting, dim))
        shape.push_back(size);
  };
  addFree(lhs, lhsBatching, lhsContracting);
  addFree(rhs, rhsBatching, rhsContracting);
  return checkShape(getLoc(), "the result of the contraction",
                    getResult().getType().getShape(), shape);
}

LogicalResult DotOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  auto isMatrixOrVector = [](RankedTensorType type) {
    return type.getRank() == 1 || type.getRank() == 2;
  };
  if (!isMatrixOrVector(lhs) || !isMatrixOrVector(rhs))
    return shardonnay::pointAtOperand(
        shardonnay::pointAtOperand(
            emitOpError("expected vectors or matrices, got ")
                << lhs << " and " << rhs,
            getLhs(), "lhs is made here"),
        getRhs(), "rhs is made here");
  if (!sizesMatch(lhs.getShape().back(), rhs.getShape().front()))
    return shardonnay::pointAtOperand(
        shardonnay::pointAtOperand(
            emitOpError("pairs a dim of size ")
                << lhs.getShape().back() << " with one of size "
                << rhs.getShape().front() << ", expected equal sizes",
            getLhs(), "lhs is made here"),
        getRhs(), "rhs is made here");
  SmallVector<int64_t> shape(lhs.getShape().drop_back());
  llvm::append_range(shape, rhs.getShape().drop_front());
  return checkShape(getLoc(), "the result of the contraction",
                    getResult().getType().getShape(), shape);
}
