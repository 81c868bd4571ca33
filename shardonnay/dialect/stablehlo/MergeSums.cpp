//===- MergeSums.cpp - sums of sums as one --------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/dialect/stablehlo/Sums.h"

using namespace mlir;
using namespace mlir::stablehlo;

bool stablehlo::isAddition(Block &block) {
  auto add = dyn_cast<AddOp>(block.front());
  return add && block.getOperations().size() == 2 &&
         block.getTerminator()->getOperand(0) == add.getResult() &&
         add.getLhs() != add.getRhs() && isa<BlockArgument>(add.getLhs()) &&
         isa<BlockArgument>(add.getRhs());
}

bool stablehlo::isZero(Value value) {
  if (auto convert = value.getDefiningOp<ConvertOp>())
    value = convert.getOperand();
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat())
    return false;
  Type element = constant.getElementType();
  if (isa<FloatType>(element))
    return constant.getSplatValue<APFloat>().isZero();
  return isa<IntegerType>(element) && constant.getSplatValue<APInt>().isZero();
}

bool stablehlo::isZeroScalar(Value scalar) {
  if (auto broadcast = scalar.getDefiningOp<BroadcastInDimOp>())
    scalar = broadcast.getOperand();
  return isZero(scalar);
}

/// A sum from zero of one tensor. Not of short floats: what is added up in
/// steps is rounded to them less often.
static bool isSum(ReduceOp op) {
  if (op.getInputs().size() != 1 || !isAddition(op.getBody().front()) ||
      !isZeroScalar(op.getInitValues()[0]))
    return false;
  auto type = cast<RankedTensorType>(op.getInputs()[0].getType());
  auto element = dyn_cast<FloatType>(type.getElementType());
  return type.hasStaticShape() && (!element || element.getWidth() >= 32);
}

/// The dims of `shape`, not those of size 1.
static SmallVector<int64_t> dimsOf(ArrayRef<int64_t> shape) {
  return llvm::filter_to_vector(llvm::seq<int64_t>(0, shape.size()),
                                [&](int64_t dim) { return shape[dim] != 1; });
}

static SmallVector<int64_t> select(ArrayRef<int64_t> from,
                                   ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(dims, [&](int64_t dim) { return from[dim]; });
}

/// The sum of a sum is one over the dims of both: gradients of what was
/// broadcast twice (in JAX, once by vmap). Sharded, the first one would be
/// reduced, or scattered, with all the elements that are then added up. A
/// reshape in between may add and take away dims of size 1.
LogicalResult ReduceOp::canonicalize(ReduceOp op, PatternRewriter &rewriter) {
  if (!isSum(op))
    return failure();
  Value input = op.getInputs()[0];
  auto reshape = input.getDefiningOp<ReshapeOp>();
  auto inner =
      (reshape ? reshape.getOperand() : input).getDefiningOp<ReduceOp>();
  auto isPassed = [](Operation *passed) {
    return passed->hasOneUse() && passed->getDiscardableAttrs().empty();
  };
  if (!inner || !isSum(inner) || !isPassed(inner) ||
      (reshape && !isPassed(reshape)))
    return failure();

  auto source = cast<RankedTensorType>(inner.getInputs()[0].getType());
  auto sum = cast<RankedTensorType>(inner.getResult(0).getType());
  auto summed = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> sumDims = dimsOf(sum.getShape()),
                       summedDims = dimsOf(summed.getShape());
  if (select(sum.getShape(), sumDims) != select(summed.getShape(), summedDims))
    return failure();
  SmallVector<int64_t> left = llvm::filter_to_vector(
      llvm::seq<int64_t>(0, source.getRank()), [&](int64_t dim) {
        return !llvm::is_contained(inner.getDimensions(), dim);
      });
  // What has size 1 in the sum is reduced too: its result has it again.
  SmallVector<int64_t> kept;
  for (auto [from, to] : llvm::zip_equal(sumDims, summedDims))
    if (!llvm::is_contained(op.getDimensions(), to))
      kept.push_back(left[from]);
  SmallVector<int64_t> dims = llvm::filter_to_vector(
      llvm::seq<int64_t>(0, source.getRank()),
      [&](int64_t dim) { return !llvm::is_contained(kept, dim); });

  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  auto merged = ReduceOp::create(rewriter, op.getLoc(),
                                 type.clone(select(source.getShape(), kept)),
                                 inner.getInputs(), inner.getInitValues(),
                                 rewriter.getDenseI64ArrayAttr(dims));
  rewriter.inlineRegionBefore(op.getBody(), merged.getBody(),
                              merged.getBody().end());
  Operation *made = merged;
  if (merged.getResult(0).getType() != type)
    made = ReshapeOp::create(rewriter, op.getLoc(), type, merged.getResult(0));
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, made);
  if (reshape)
    rewriter.eraseOp(reshape);
  rewriter.eraseOp(inner);
  return success();
}
