//===- Structured.cpp - constants, contractions, selections ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/chlo/Chlo.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"

using namespace mlir;
using namespace mlir::chlo;
using stablehlo::checkCount;
using stablehlo::checkDims;
using stablehlo::checkShape;

void ChloDialect::addStructuredOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/chlo/Structured.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/chlo/Structured.cpp.inc"

//===----------------------------------------------------------------------===//
// constant, top_k
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, MaybeLoc,
                                           Adaptor adaptor, Types &types) {
  types.push_back(adaptor.getValue().getType());
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, MaybeLoc location,
                                       Adaptor adaptor, Types &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  if (operand.getRank() == 0)
    return emitOptionalError(location,
                             "expected a tensor of rank 1 or more, "
                             "got ",
                             operand);
  int64_t size = operand.getShape().back(), k = adaptor.getK();
  if (!ShapedType::isDynamic(size) && size < k)
    return emitOptionalError(location, "can't pick ", k, " of ", size,
                             " elements");
  SmallVector<int64_t> shape(operand.getShape());
  shape.back() = k;
  types.push_back(RankedTensorType::get(shape, operand.getElementType()));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  return success();
}

//===----------------------------------------------------------------------===//
// ragged_dot
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> concat(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return llvm::to_vector(llvm::concat<const int64_t>(a, b));
}

/// That the dims are paired, with sizes that agree.
static LogicalResult checkPairs(RaggedDotOp op, StringRef role,
                                ArrayRef<int64_t> lhsDims,
                                ArrayRef<int64_t> rhsDims) {
  if (lhsDims.size() != rhsDims.size())
    return op.emitOpError("has ")
           << lhsDims.size() << " " << role << " dims of lhs and "
           << rhsDims.size() << " of rhs, expected pairs";
  auto lhs = cast<RankedTensorType>(op.getLhs().getType());
  auto rhs = cast<RankedTensorType>(op.getRhs().getType());
  for (auto [l, r] : llvm::zip(lhsDims, rhsDims))
    if (!stablehlo::sizesMatch(lhs.getDimSize(l), rhs.getDimSize(r)))
      return op.emitOpError("pairs ") << role << " dim " << l << " of " << lhs
                                      << " with dim " << r << " of " << rhs;
  return success();
}

/// The dims that come before the groups in group_sizes, if each slice along
/// them has groups of its own: the outer dims of the ragged dim's role.
static SmallVector<int64_t> outerDims(RaggedDotDimensionNumbersAttr numbers,
                                      int64_t lhsRank, int64_t ragged) {
  ArrayRef<int64_t> batching = numbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> contracting = numbers.getLhsContractingDimensions();
  SmallVector<int64_t> free;
  for (int64_t dim = 0; dim < lhsRank; ++dim)
    if (!llvm::is_contained(batching, dim) &&
        !llvm::is_contained(contracting, dim))
      free.push_back(dim);
  auto before = [&](ArrayRef<int64_t> dims) {
    return dims.take_front(llvm::find(dims, ragged) - dims.begin());
  };
  if (llvm::is_contained(batching, ragged))
    return SmallVector<int64_t>(before(batching));
  if (llvm::is_contained(contracting, ragged))
    return concat(batching, before(contracting));
  return concat(batching, before(free));
}

/// That each dim has one role, and that there are the dims that each form of
/// the op has.
static LogicalResult checkNumbers(RaggedDotOp op) {
  auto numbers = op.getRaggedDotDimensionNumbers();
  int64_t lhsRank = cast<RankedTensorType>(op.getLhs().getType()).getRank();
  int64_t rhsRank = cast<RankedTensorType>(op.getRhs().getType()).getRank();
  ArrayRef<int64_t> ragged = numbers.getLhsRaggedDimensions();
  if (failed(checkCount(op.getLoc(), "ragged dim of lhs", ragged.size(), 1)) ||
      failed(checkDims(op.getLoc(), "the ragged dims", ragged, lhsRank)) ||
      failed(checkDims(op.getLoc(), "lhs",
                       concat(numbers.getLhsBatchingDimensions(),
                              numbers.getLhsContractingDimensions()),
                       lhsRank)) ||
      failed(checkDims(op.getLoc(), "rhs",
                       concat(concat(numbers.getRhsBatchingDimensions(),
                                     numbers.getRhsContractingDimensions()),
                              numbers.getRhsGroupDimensions()),
                       rhsRank)) ||
      failed(checkPairs(op, "batching", numbers.getLhsBatchingDimensions(),
                        numbers.getRhsBatchingDimensions())) ||
      failed(checkPairs(op, "contracting",
                        numbers.getLhsContractingDimensions(),
                        numbers.getRhsContractingDimensions())))
    return failure();
  bool isFree =
      !llvm::is_contained(numbers.getLhsBatchingDimensions(), ragged[0]) &&
      !llvm::is_contained(numbers.getLhsContractingDimensions(), ragged[0]);
  return checkCount(op.getLoc(), "group dims of rhs",
                    numbers.getRhsGroupDimensions().size(), isFree ? 1 : 0);
}

/// Checks the shape of group_sizes; the number of groups.
static FailureOr<int64_t> readGroups(RaggedDotOp op) {
  auto numbers = op.getRaggedDotDimensionNumbers();
  auto lhs = cast<RankedTensorType>(op.getLhs().getType());
  auto sizes = cast<RankedTensorType>(op.getGroupSizes().getType());
  SmallVector<int64_t> expected;
  for (int64_t dim :
       outerDims(numbers, lhs.getRank(), numbers.getLhsRaggedDimensions()[0]))
    expected.push_back(lhs.getDimSize(dim));
  int64_t rank = sizes.getRank();
  if (rank != 1 && rank != static_cast<int64_t>(expected.size()) + 1)
    return op.emitOpError("expected group sizes of rank 1 or ")
           << expected.size() + 1 << ", got " << sizes;
  int64_t groups = sizes.getShape().back();
  expected.push_back(groups);
  if (rank != 1 && failed(checkShape(op.getLoc(), "the tensor of group sizes",
                                     sizes.getShape(), expected)))
    return failure();
  return groups;
}

LogicalResult RaggedDotOp::verify() {
  auto numbers = getRaggedDotDimensionNumbers();
  if (failed(checkNumbers(*this)))
    return failure();
  FailureOr<int64_t> groups = readGroups(*this);
  if (failed(groups))
    return failure();
  if (auto precision = getPrecisionConfig())
    if (precision->size() > 2)
      return emitOpError("expected a precision for each of 2 operands, got ")
             << precision->size();
  auto lhs = cast<RankedTensorType>(getLhs().getType());
  auto rhs = cast<RankedTensorType>(getRhs().getType());
  for (int64_t dim : numbers.getRhsGroupDimensions())
    if (!stablehlo::sizesMatch(rhs.getDimSize(dim), *groups))
      return emitOpError("has sizes of ")
             << *groups << " groups, but dim " << dim << " of rhs has "
             << rhs.getDimSize(dim);

  SmallVector<int64_t> shape;
  if (llvm::is_contained(numbers.getLhsContractingDimensions(),
                         numbers.getLhsRaggedDimensions()[0]))
    shape.push_back(*groups);
  for (int64_t dim : numbers.getLhsBatchingDimensions())
    shape.push_back(lhs.getDimSize(dim));
  auto addFree = [&](RankedTensorType type, ArrayRef<int64_t> others) {
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (!llvm::is_contained(others, dim))
        shape.push_back(size);
  };
  addFree(lhs, concat(numbers.getLhsBatchingDimensions(),
                      numbers.getLhsContractingDimensions()));
  addFree(rhs, concat(concat(numbers.getRhsBatchingDimensions(),
                             numbers.getRhsContractingDimensions()),
                      numbers.getRhsGroupDimensions()));
  return checkShape(getLoc(), "the result of the contraction",
                    cast<RankedTensorType>(getResult().getType()).getShape(),
                    shape);
}
