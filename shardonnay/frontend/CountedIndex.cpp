//===- CountedIndex.cpp - indices that count a loop -----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. In a body: `linalg.index`, an integer of at least 32 bits that is one, or
//    the choice of one or another number where it is negative, which no number
//    of a loop is.
// 2. The element of an input, whose map says at which loop's number it is: of a
//    tensor along one of whose dims the elements count.
// 3. Such a tensor: a constant, whose elements tell; what a generic yields for
//    each of its loops, by 1; one with more dims of size 1.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/CountedIndex.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace shardonnay {

/// A constant is looked through up to this size, a chain of ops up to this
/// length.
static constexpr int64_t kMostElements = 1 << 20;
static constexpr unsigned kMostSteps = 16;

/// A dim of `elements` along which each element is its own number.
static std::optional<int64_t> findCountedDim(DenseIntElementsAttr elements) {
  auto type = cast<RankedTensorType>(elements.getType());
  if (type.getNumElements() > kMostElements)
    return std::nullopt;
  int64_t stride = type.getNumElements();
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (stride == 0)
      return std::nullopt;
    stride /= extent;
    auto counts = [&, extent = extent](const auto &numbered) {
      auto [number, element] = numbered;
      return element == (number / stride) % extent;
    };
    if (extent > 1 &&
        llvm::all_of(llvm::enumerate(elements.getValues<APInt>()), counts))
      return dim;
  }
  return std::nullopt;
}

static std::optional<int64_t> findLoop(linalg::GenericOp generic, Value index,
                                       unsigned steps);

/// The same of a tensor.
static std::optional<int64_t> findDim(Value tensor, unsigned steps) {
  if (steps == 0)
    return std::nullopt;
  DenseIntElementsAttr elements;
  if (matchPattern(tensor, m_Constant(&elements)))
    return findCountedDim(elements);
  if (auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>()) {
    std::optional<int64_t> dim = findDim(expand.getSrc(), steps - 1);
    if (!dim)
      return std::nullopt;
    ReassociationIndices parts = expand.getReassociationIndices()[*dim];
    for (int64_t made : parts)
      if (expand.getResultType().getDimSize(made) ==
          expand.getSrcType().getDimSize(*dim))
        return made;
    return std::nullopt;
  }
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (!generic)
    return std::nullopt;
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  AffineMap map =
      generic.getIndexingMapsArray()[generic.getNumDpsInputs() + number];
  if (!map.isIdentity())
    return std::nullopt;
  return findLoop(generic,
                  generic.getBody()->getTerminator()->getOperand(number),
                  steps - 1);
}

/// `value`, where `compare` says that it is negative.
static bool asksForNegative(Value compare, Value value) {
  auto op = compare.getDefiningOp<arith::CmpIOp>();
  return op && op.getPredicate() == arith::CmpIPredicate::slt &&
         op.getLhs() == value && matchPattern(op.getRhs(), m_Zero());
}

static std::optional<int64_t> findLoop(linalg::GenericOp generic, Value index,
                                       unsigned steps) {
  if (steps == 0 || index.getParentBlock() != generic.getBody())
    return std::nullopt;
  if (index.getType().isInteger() &&
      index.getType().getIntOrFloatBitWidth() < 32)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    OpOperand *operand = generic.getMatchingOpOperand(argument);
    if (generic.isDpsInit(operand))
      return std::nullopt;
    std::optional<int64_t> dim = findDim(operand->get(), steps - 1);
    if (!dim)
      return std::nullopt;
    auto loop = dyn_cast<AffineDimExpr>(
        generic.getMatchingIndexingMap(operand).getResult(*dim));
    return loop ? std::optional<int64_t>(loop.getPosition()) : std::nullopt;
  }
  if (auto own = index.getDefiningOp<linalg::IndexOp>())
    return own.getDim();
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    return findLoop(generic, cast.getIn(), steps - 1);
  auto select = index.getDefiningOp<arith::SelectOp>();
  if (select && asksForNegative(select.getCondition(), select.getFalseValue()))
    return findLoop(generic, select.getFalseValue(), steps - 1);
  return std::nullopt;
}

std::optional<int64_t> findCountedLoop(linalg::GenericOp generic, Value index) {
  return findLoop(generic, index, kMostSteps);
}

} // namespace shardonnay
