//===- MergeWindows.cpp - pads, slices and convolutions as one ------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// What an op takes away at either end of each dim of its operand.
struct Cut {
  SmallVector<int64_t> before, after;
};
} // namespace

static int64_t countCutDims(const Cut &cut) {
  int64_t dims = 0;
  for (auto [before, after] : llvm::zip_equal(cut.before, cut.after))
    dims += before != 0 || after != 0;
  return dims;
}

static bool hasStaticTypes(ConvolutionOp op) {
  return op.getLhs().getType().hasStaticShape() &&
         op.getRhs().getType().hasStaticShape() &&
         op.getResult().getType().hasStaticShape();
}

/// Nothing if `op` does more than take away.
static std::optional<Cut> readCut(Operation *op) {
  Cut cut;
  if (auto slice = dyn_cast<SliceOp>(op)) {
    auto isOne = [](int64_t stride) { return stride == 1; };
    if (!slice.getOperand().getType().hasStaticShape() ||
        !llvm::all_of(slice.getStrides(), isOne))
      return std::nullopt;
    cut.before.assign(slice.getStartIndices().begin(),
                      slice.getStartIndices().end());
    for (auto [size, limit] : llvm::zip_equal(
             slice.getOperand().getType().getShape(), slice.getLimitIndices()))
      cut.after.push_back(size - limit);
    return cut;
  }
  auto pad = dyn_cast<PadOp>(op);
  if (!pad)
    return std::nullopt;
  for (auto [low, high, interior] :
       llvm::zip_equal(pad.getEdgePaddingLow(), pad.getEdgePaddingHigh(),
                       pad.getInteriorPadding())) {
    if (low > 0 || high > 0 || interior != 0)
      return std::nullopt;
    cut.before.push_back(-low);
    cut.after.push_back(-high);
  }
  return cut;
}

/// Whether some element remains, and none stands apart from its neighbours.
static bool canCut(PadOp pad, const Cut &cut) {
  for (auto [dim, size] :
       llvm::enumerate(pad.getOperand().getType().getShape()))
    if ((cut.before[dim] != 0 || cut.after[dim] != 0) &&
        (pad.getInteriorPadding()[dim] != 0 ||
         cut.before[dim] - pad.getEdgePaddingLow()[dim] >= size ||
         cut.after[dim] - pad.getEdgePaddingHigh()[dim] >= size))
      return false;
  return true;
}

/// What is padded and cut again (a shift by a row, or the neighbours of every
/// element) is one window a cut: in pieces each needs some rows of a neighbour,
/// while the padded tensor, of another size, would have to be laid out anew,
/// twice. All the uses of a padded tensor have to be such, or it is needed.
static LogicalResult cutPadded(Operation *op, PatternRewriter &rewriter) {
  auto pad = op->getOperand(0).getDefiningOp<PadOp>();
  if (!pad || !pad->getDiscardableAttrs().empty() ||
      !pad.getType().hasStaticShape())
    return failure();
  for (OpOperand &use : pad->getUses()) {
    std::optional<Cut> cut = readCut(use.getOwner());
    if (use.getOperandNumber() != 0 || !cut || !canCut(pad, *cut))
      return failure();
  }
  Cut cut = *readCut(op);
  SmallVector<int64_t> low, high;
  for (auto [padded, taken] :
       llvm::zip_equal(pad.getEdgePaddingLow(), cut.before))
    low.push_back(padded - taken);
  for (auto [padded, taken] :
       llvm::zip_equal(pad.getEdgePaddingHigh(), cut.after))
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
/// computed: what gradients of causal convolutions cut off.
static LogicalResult cutConvolution(Operation *op, PatternRewriter &rewriter) {
  auto conv = op->getOperand(0).getDefiningOp<ConvolutionOp>();
  std::optional<Cut> cut = readCut(op);
  if (!conv || !cut || !conv->hasOneUse() ||
      !conv->getDiscardableAttrs().empty() || !hasStaticTypes(conv) ||
      cast<RankedTensorType>(op->getResult(0).getType()).getNumElements() == 0)
    return failure();
  SmallVector<WindowDim> window = conv.getWindow();
  int64_t cutDims = 0;
  for (auto [dim, at] : llvm::enumerate(
           conv.getDimensionNumbers().getOutputSpatialDimensions())) {
    window[dim].low -= cut->before[at] * window[dim].stride;
    window[dim].high -= cut->after[at] * window[dim].stride;
    cutDims += cut->before[at] != 0 || cut->after[at] != 0;
  }
  if (cutDims != countCutDims(*cut))
    return failure();
  replaceWithConvolution(op, conv, conv.getLhs(), window, rewriter);
  rewriter.eraseOp(conv);
  return success();
}

static bool isZero(Value value) {
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

LogicalResult SliceOp::canonicalize(SliceOp op, PatternRewriter &rewriter) {
  return success(succeeded(cutPadded(op, rewriter)) ||
                 succeeded(cutConvolution(op, rewriter)));
}

LogicalResult PadOp::canonicalize(PadOp op, PatternRewriter &rewriter) {
  return success(succeeded(cutPadded(op, rewriter)) ||
                 succeeded(cutConvolution(op, rewriter)));
}
