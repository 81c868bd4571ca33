//===- Broadcast.cpp - operands of several shapes -------------------------===//
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

/// The size of a dim of which `a` and `b` are parts: that which is not 1, or
/// unknown.
static int64_t broadcastSize(int64_t a, int64_t b) {
  if (a == 1 || b == 1)
    return a == 1 ? b : a;
  return a == b ? a : ShapedType::kDynamic;
}

/// Known sizes that no broadcast makes equal are left to who expands the op, as
/// are dims that are not aligned at the last: the result may have any shape.
static bool mayBroadcast(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  size_t rank = std::min(a.size(), b.size());
  return llvm::all_of_zip(
      a.take_back(rank), b.take_back(rank), [](int64_t a, int64_t b) {
        return a == 1 || b == 1 || stablehlo::sizesMatch(a, b);
      });
}

/// The shape of the dims of `a` and `b`, aligned at the last.
static SmallVector<int64_t> broadcastShape(ArrayRef<int64_t> a,
                                           ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<int64_t> shape(a);
  for (auto [size, other] :
       llvm::zip(MutableArrayRef(shape).take_back(b.size()), b))
    size = broadcastSize(size, other);
  return shape;
}

static bool alignsAtLast(std::optional<ArrayRef<int64_t>> dims, int64_t rankA,
                         int64_t rankB) {
  if (!dims || dims->empty())
    return true;
  int64_t smaller = std::min(rankA, rankB), larger = std::max(rankA, rankB);
  return llvm::equal(*dims, llvm::seq<int64_t>(larger - smaller, larger));
}

/// The element type of the results, given that of the operands.
using ElementT = Type (*)(Type);

static Type sameElement(Type element) { return element; }
static Type boolElement(Type element) {
  return IntegerType::get(element.getContext(), 1);
}
static Type complexElement(Type element) { return ComplexType::get(element); }

template <typename AdaptorT>
static LogicalResult inferBinary(MaybeLoc location, AdaptorT adaptor,
                                 Types &types, ElementT elementOf) {
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  if (lhs.getElementType() != rhs.getElementType())
    return emitOptionalError(location,
                             "expected operands of one element type, "
                             "got ",
                             lhs, " and ", rhs);
  Type element = elementOf(lhs.getElementType());
  if (mayBroadcast(lhs.getShape(), rhs.getShape()) &&
      alignsAtLast(adaptor.getBroadcastDimensions(), lhs.getRank(),
                   rhs.getRank()))
    types.push_back(RankedTensorType::get(
        broadcastShape(lhs.getShape(), rhs.getShape()), element));
  else
    types.push_back(UnrankedTensorType::get(element));
  return success();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/chlo/Broadcast.cpp.inc"

void ChloDialect::addBroadcastOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/chlo/Broadcast.cpp.inc"
      >();
}

LogicalResult BroadcastSelectOp::inferReturnTypes(MLIRContext *,
                                                  MaybeLoc location,
                                                  Adaptor adaptor,
                                                  Types &types) {
  auto pred = cast<RankedTensorType>(adaptor.getPred().getType());
  auto onTrue = cast<RankedTensorType>(adaptor.getOnTrue().getType());
  auto onFalse = cast<RankedTensorType>(adaptor.getOnFalse().getType());
  if (onTrue.getElementType() != onFalse.getElementType())
    return emitOptionalError(location,
                             "expected to select from one element "
                             "type, got ",
                             onTrue, " and ", onFalse);
  SmallVector<int64_t> shape = broadcastShape(
      pred.getShape(), broadcastShape(onTrue.getShape(), onFalse.getShape()));
  types.push_back(RankedTensorType::get(shape, onTrue.getElementType()));
  return success();
}
