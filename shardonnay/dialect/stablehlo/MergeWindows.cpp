//===- MergeWindows.cpp - pads, slices and windows as one -----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/PatternMatch.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/dialect/stablehlo/Sums.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// What an op takes away at either end of each dim of its operand.
struct Trim {
  SmallVector<int64_t> before, after;
};
} // namespace

static int64_t countShardedDims(const Trim &trim) {
  int64_t dims = 0;
  for (auto [before, after] : llvm::zip_equal(trim.before, trim.after))
    dims += before != 0 || after != 0;
  return dims;
}

static bool hasStaticTypes(ConvolutionOp op) {
  return op.getLhs().getType().hasStaticShape() &&
         op.getRhs().getType().hasStaticShape() &&
         op.getResult().getType().hasStaticShape();
}

/// Nothing if `op` does more than take away.
static std::optional<Trim> readTrim(Operation *op) {
  Trim trim;
  if (auto slice = dyn_cast<SliceOp>(op)) {
    auto isOne = [](int64_t stride) { return stride == 1; };
    if (!slice.getOperand().getType().hasStaticShape() ||
        !llvm::all_of(slice.getStrides(), isOne))
      return std::nullopt;
    trim.before.assign(slice.getStartIndices().begin(),
                       slice.getStartIndices().end());
    for (auto [size, limit] : llvm::zip_equal(
             slice.getOperand().getType().getShape(), slice.getLimitIndices()))
      trim.after.push_back(size - limit);
    return trim;
  }
  auto pad = dyn_cast<PadOp>(op);
  if (!pad)
    return std::nullopt;
  for (auto [low, high, interior] :
       llvm::zip_equal(pad.getEdgePaddingLow(), pad.getEdgePaddingHigh(),
                       pad.getInteriorPadding())) {
    if (low > 0 || high > 0 || interior != 0)
      return std::nullopt;
    trim.before.push_back(-low);
    trim.after.push_back(-high);
  }
  return trim;
}

/// Whether some element remains, and none stands apart from its neighbours.
static bool canTrim(PadOp pad, const Trim &trim) {
  for (auto [dim, size] :
       llvm::enumerate(pad.getOperand().getType().getShape()))
    if ((trim.before[dim] != 0 || trim.after[dim] != 0) &&
        (pad.getInteriorPadding()[dim] != 0 ||
         trim.before[dim] - pad.getEdgePaddingLow()[dim] >= size ||
         trim.after[dim] - pad.getEdgePaddingHigh()[dim] >= size))
      return false;
  return true;
}

/// What is padded and trim again (a shift by a row, or the neighbours of every
/// element) is one window a trim: sharded, each needs some rows of a
/// neighbour, while the padded tensor, of another size, would have to be laid
/// out anew, twice. All the uses of a padded tensor have to be such, or it is
/// needed.
static LogicalResult trimPadded(Operation *op, PatternRewriter &rewriter) {
  auto pad = op->getOperand(0).getDefiningOp<PadOp>();
  if (!pad || !pad->getDiscardableAttrs().empty() ||
      !pad.getType().hasStaticShape())
    return failure();
  for (OpOperand &use : pad->getUses()) {
    std::optional<Trim> trim = readTrim(use.getOwner());
    if (use.getOperandNumber() != 0 || !trim || !canTrim(pad, *trim))
      return failure();
  }
  Trim trim = *readTrim(op);
  SmallVector<int64_t> low, high;
  for (auto [padded, taken] :
       llvm::zip_equal(pad.getEdgePaddingLow(), trim.before))
    low.push_back(padded - taken);
  for (auto [padded, taken] :
       llvm::zip_equal(pad.getEdgePaddingHigh(), trim.after))
    high.push_back(padded - taken);
  auto window = PadOp::create(
      rewriter, op->getLoc(),
      cast<RankedTensorType>(op->getResult(0).getType()), pad.getOperand(),
      pad.getPaddingValue(), low, high, pad.getInteriorPadding());
  window->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, window);
  if (pad->use_empty())
    rewriter.eraseOp(pad);
  return success();
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The convolution `conv` with other padding, in place of `op`.
static void replaceWithConvolution(Operation *op, ConvolutionOp conv,
                                   Value input, ArrayRef<WindowDim> window,
                                   PatternRewriter &rewriter) {
  SmallVector<int64_t> padding;
  for (const WindowDim &dim : window)
    padding.append({dim.low, dim.high});
  auto type = RankedTensorType::get({static_cast<int64_t>(window.size()), 2},
                                    rewriter.getI64Type());
  auto merged = cast<ConvolutionOp>(rewriter.clone(*conv));
  merged->setLoc(op->getLoc());
  merged->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  merged.getLhsMutable().assign(input);
  merged.getResult().setType(
      cast<RankedTensorType>(op->getResult(0).getType()));
  merged.setPaddingAttr(DenseIntElementsAttr::get(type, padding));
  rewriter.replaceOp(op, merged);
}

/// The first and last results of a convolution that nothing needs are not
/// computed: what gradients of causal convolutions trim off.
static LogicalResult trimConvolution(Operation *op, PatternRewriter &rewriter) {
  auto conv = op->getOperand(0).getDefiningOp<ConvolutionOp>();
  std::optional<Trim> trim = readTrim(op);
  if (!conv || !trim || !conv->hasOneUse() ||
      !conv->getDiscardableAttrs().empty() || !hasStaticTypes(conv) ||
      cast<RankedTensorType>(op->getResult(0).getType()).getNumElements() == 0)
    return failure();
  SmallVector<WindowDim> window = conv.getWindow();
  int64_t shardedDims = 0;
  for (auto [dim, at] : llvm::enumerate(
           conv.getDimensionNumbers().getOutputSpatialDimensions())) {
    window[dim].low -= trim->before[at] * window[dim].stride;
    window[dim].high -= trim->after[at] * window[dim].stride;
    shardedDims += trim->before[at] != 0 || trim->after[at] != 0;
  }
  if (shardedDims != countShardedDims(*trim))
    return failure();
  replaceWithConvolution(op, conv, conv.getLhs(), window, rewriter);
  rewriter.eraseOp(conv);
  return success();
}

/// Zeros around the input are what a convolution pads with.
LogicalResult ConvolutionOp::canonicalize(ConvolutionOp op,
                                          PatternRewriter &rewriter) {
  auto pad = op.getLhs().getDefiningOp<PadOp>();
  if (!pad || !pad->getDiscardableAttrs().empty() || !hasStaticTypes(op) ||
      !isZero(pad.getPaddingValue()))
    return failure();
  SmallVector<WindowDim> window = op.getWindow();
  int64_t padded = 0;
  for (auto [dim, at] :
       llvm::enumerate(op.getDimensionNumbers().getInputSpatialDimensions())) {
    int64_t low = pad.getEdgePaddingLow()[at];
    int64_t high = pad.getEdgePaddingHigh()[at];
    if (pad.getInteriorPadding()[at] != 0 || low < 0 || high < 0)
      return failure();
    window[dim].low += low * window[dim].baseDilation;
    window[dim].high += high * window[dim].baseDilation;
    padded += low != 0 || high != 0;
  }
  int64_t all = 0;
  for (auto [low, high, interior] :
       llvm::zip_equal(pad.getEdgePaddingLow(), pad.getEdgePaddingHigh(),
                       pad.getInteriorPadding()))
    all += low != 0 || high != 0 || interior != 0;
  if (padded != all)
    return failure();
  replaceWithConvolution(op, op, pad.getOperand(), window, rewriter);
  if (pad->use_empty())
    rewriter.eraseOp(pad);
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions of windows
//===----------------------------------------------------------------------===//

/// Adds what `pad` does to `window`, of one dim; false if that takes elements
/// away, or if the window sees all of the dim, as a running sum's does.
static bool addPadding(PadOp pad, size_t dim, WindowDim &window) {
  int64_t low = pad.getEdgePaddingLow()[dim];
  int64_t high = pad.getEdgePaddingHigh()[dim];
  int64_t interior = pad.getInteriorPadding()[dim];
  if (low == 0 && high == 0 && interior == 0)
    return true;
  if (low < 0 || high < 0 || pad.getOperand().getType().getDimSize(dim) == 0 ||
      window.extent() >= pad.getType().getDimSize(dim))
    return false;
  window.low += low * window.baseDilation;
  window.high += high * window.baseDilation;
  window.baseDilation *= interior + 1;
  return true;
}

/// Zeros around what is added up from zero are what the windows are padded
/// with: the gradient of an average pooling. Where a reduction starts from what
/// is not neutral, XLA has nothing around the elements.
LogicalResult ReduceWindowOp::canonicalize(ReduceWindowOp op,
                                           PatternRewriter &rewriter) {
  if (op.getInputs().size() != 1)
    return failure();
  auto pad = op.getInputs()[0].getDefiningOp<PadOp>();
  if (!pad || !pad->hasOneUse() || !pad->getDiscardableAttrs().empty() ||
      !pad.getType().hasStaticShape() ||
      !pad.getOperand().getType().hasStaticShape() ||
      !isAddition(op.getBody().front()) ||
      !isZeroScalar(pad.getPaddingValue()) ||
      !isZeroScalar(op.getInitValues()[0]))
    return failure();
  SmallVector<WindowDim> window = op.getWindow();
  SmallVector<int64_t> padding, baseDilations;
  for (auto [dim, entry] : llvm::enumerate(window)) {
    if (!addPadding(pad, dim, entry))
      return failure();
    padding.append({entry.low, entry.high});
    baseDilations.push_back(entry.baseDilation);
  }
  auto type = RankedTensorType::get({static_cast<int64_t>(window.size()), 2},
                                    rewriter.getI64Type());
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputsMutable().assign(pad.getOperand());
    op.setPaddingAttr(DenseIntElementsAttr::get(type, padding));
    op.setBaseDilations(baseDilations);
  });
  rewriter.eraseOp(pad);
  return success();
}

LogicalResult SliceOp::canonicalize(SliceOp op, PatternRewriter &rewriter) {
  return success(succeeded(trimPadded(op, rewriter)) ||
                 succeeded(trimConvolution(op, rewriter)));
}

LogicalResult PadOp::canonicalize(PadOp op, PatternRewriter &rewriter) {
  return success(succeeded(trimPadded(op, rewriter)) ||
                 succeeded(trimConvolution(op, rewriter)));
}
