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

/// A reduction of `input`, of which `kept` and `dims` are all dims, with the
/// body and in the place of `op`, and in its shape.
static void replaceReduce(ReduceOp op, Value input, ValueRange inits,
                          ArrayRef<int64_t> kept, ArrayRef<int64_t> dims,
                          PatternRewriter &rewriter) {
  auto from = cast<RankedTensorType>(input.getType());
  auto to = cast<RankedTensorType>(op.getResult(0).getType());
  auto reduce = ReduceOp::create(rewriter, op.getLoc(),
                                 to.clone(select(from.getShape(), kept)), input,
                                 inits, rewriter.getDenseI64ArrayAttr(dims));
  rewriter.inlineRegionBefore(op.getBody(), reduce.getBody(),
                              reduce.getBody().end());
  Operation *made = reduce;
  if (reduce.getResult(0).getType() != to)
    made = ReshapeOp::create(rewriter, op.getLoc(), to, reduce.getResult(0));
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, made);
}

/// For each dim of `merged` the dims of `shape` that a reshape makes it of;
/// nothing if it does more than merge.
static std::optional<SmallVector<SmallVector<int64_t>>>
groupDims(ArrayRef<int64_t> shape, ArrayRef<int64_t> merged) {
  SmallVector<SmallVector<int64_t>> groups;
  size_t next = 0;
  for (int64_t size : merged) {
    SmallVector<int64_t> &group = groups.emplace_back();
    int64_t product = 1;
    while (next < shape.size() && (group.empty() || product < size)) {
      product *= shape[next];
      group.push_back(static_cast<int64_t>(next++));
    }
    if (group.empty() || product != size || size == 0)
      return std::nullopt;
  }
  return next == shape.size() ? std::optional(groups) : std::nullopt;
}

/// Along a dim that a reshape made of several, what is reduced are these: a dim
/// that is sharded but for the first of them has no sharding when merged
/// (PyTorch's gradient of a bias adds up sequences times batch). Dims that are
/// kept merged are merged behind.
static LogicalResult splitReducedDims(ReduceOp op, PatternRewriter &rewriter) {
  if (op.getInputs().size() != 1)
    return failure();
  auto reshape = op.getInputs()[0].getDefiningOp<ReshapeOp>();
  if (!reshape || !reshape->getDiscardableAttrs().empty())
    return failure();
  auto from = cast<RankedTensorType>(reshape.getOperand().getType());
  auto to = cast<RankedTensorType>(reshape.getType());
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return failure();
  auto groups = groupDims(from.getShape(), to.getShape());
  if (!groups)
    return failure();
  SmallVector<int64_t> dims, kept;
  bool isMerged = false;
  for (auto [dim, group] : llvm::enumerate(*groups)) {
    bool isReduced =
        llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim));
    llvm::append_range(isReduced ? dims : kept, group);
    isMerged |= isReduced && group.size() > 1;
  }
  if (!isMerged)
    return failure();
  replaceReduce(op, reshape.getOperand(), op.getInitValues(), kept, dims,
                rewriter);
  if (reshape->use_empty())
    rewriter.eraseOp(reshape);
  return success();
}

/// The sum of a sum is one over the dims of both: gradients of what was
/// broadcast twice (in JAX, once by vmap). Sharded, the first one would be
/// reduced, or scattered, with all the elements that are then added up. A
/// reshape in between may add and take away dims of size 1.
static LogicalResult mergeSums(ReduceOp op, PatternRewriter &rewriter) {
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

  replaceReduce(op, inner.getInputs()[0], inner.getInitValues(), kept, dims,
                rewriter);
  if (reshape)
    rewriter.eraseOp(reshape);
  rewriter.eraseOp(inner);
  return success();
}

LogicalResult ReduceOp::canonicalize(ReduceOp op, PatternRewriter &rewriter) {
  return success(succeeded(splitReducedDims(op, rewriter)) ||
                 succeeded(mergeSums(op, rewriter)));
}
