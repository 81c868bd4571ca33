//===- Convolution.cpp - convolutions -------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A spatial dim of the input and the result has a factor that is windowed: the
// device computes the windows of its part of the result. Where the kernel is
// the larger of the two (a gradient for the weights), kernel and input have a
// factor instead: the device sums over its part of the kernel.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"
#include "shardonnay/models/StableHLO/SlidingWindow.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

//===----------------------------------------------------------------------===//
// Rule
//===----------------------------------------------------------------------===//

namespace {
/// A factor and where it stands: dims of input, kernel and result, -1 for none.
struct Entry {
  int64_t size;
  std::array<int64_t, 3> dims;
  FactorKind kind = FactorKind::PassThrough;
  /// What is fetched of the input where it is sharded; without its factor.
  std::optional<FactorWindow> window = std::nullopt;
};

/// Collects factors, major ones of a dim first.
class ConvolutionRule {
public:
  explicit ConvolutionRule(ConvolutionOp op)
      : op(op), numbers(op.getDimensionNumbers()),
        shapes{shapeOf(op.getLhs()), shapeOf(op.getRhs()),
               shapeOf(op.getResult())} {}

  FactorRule build() {
    addBatch();
    for (size_t i = 0; i < numbers.getInputSpatialDimensions().size(); ++i)
      addSpatial(i);
    addFeatures();
    addRest();
    return combine();
  }

private:
  void add(int64_t size, std::array<int64_t, 3> dims,
           FactorKind kind = FactorKind::PassThrough) {
    entries.push_back({size, dims, kind});
  }
  void addBatch();
  void addSpatial(size_t i);
  void addFeatures();
  void addRest();
  FactorRule combine();

  ConvolutionOp op;
  ConvDimensionNumbersAttr numbers;
  std::array<ArrayRef<int64_t>, 3> shapes;
  SmallVector<Entry> entries;
};
} // namespace

void ConvolutionRule::addBatch() {
  int64_t groups = op.getBatchGroupCount();
  int64_t in = numbers.getInputBatchDimension();
  if (groups > 1)
    add(groups, {in, numbers.getKernelOutputFeatureDimension(),
                 numbers.getOutputFeatureDimension()});
  add(shapes[0][in] / groups, {in, -1, numbers.getOutputBatchDimension()});
}

void ConvolutionRule::addSpatial(size_t i) {
  int64_t in = numbers.getInputSpatialDimensions()[i];
  int64_t kernel = numbers.getKernelSpatialDimensions()[i];
  int64_t out = numbers.getOutputSpatialDimensions()[i];
  int64_t inSize = shapes[0][in], kernelSize = shapes[1][kernel];
  int64_t outSize = shapes[2][out];
  WindowDim window = op.getWindow()[i];
  if (isa<quant::QuantizedType>(op.getLhs().getType().getElementType())) {
    // Padding would not be zeros.
    add(inSize, {in, -1, -1}, FactorKind::NeedReplication);
    return;
  }
  if (kernelSize <= outSize) {
    bool isWindowed = std::min(inSize, outSize) > 1;
    if (isWindowed)
      add(std::min(inSize, outSize), {in, -1, out}, FactorKind::Windowed);
    // Windows side by side: the input's dim is windows times their elements.
    bool isTiled = kernelSize > 1 && window.stride == kernelSize &&
                   window.dilation == 1 && window.baseDilation == 1 &&
                   window.low == 0 && window.high == 0 && !window.reversed &&
                   outSize * kernelSize == inSize;
    if (isTiled)
      add(kernelSize, {in, kernel, -1}, FactorKind::Reduction);
    else if (isWindowed)
      entries.back().window = toFactorWindow(window, /*operand=*/0,
                                             /*factor=*/0, inSize, outSize);
  } else if (inSize > 1 && window.baseDilation == 1 && !window.reversed) {
    add(kernelSize, {in, kernel, -1}, FactorKind::Indexed);
    // The device's part of the kernel slides over all results.
    FactorWindow part =
        toFactorWindow(window, /*operand=*/0, /*factor=*/0, inSize, kernelSize);
    part.stride = window.dilation;
    part.extent = std::max<int64_t>((outSize - 1) * window.stride + 1, 0);
    entries.back().window = part;
  }
}

void ConvolutionRule::addFeatures() {
  int64_t groups = op.getFeatureGroupCount();
  int64_t in = numbers.getInputFeatureDimension();
  int64_t kernelIn = numbers.getKernelInputFeatureDimension();
  int64_t kernelOut = numbers.getKernelOutputFeatureDimension();
  int64_t out = numbers.getOutputFeatureDimension();
  if (groups > 1)
    add(groups, {in, kernelOut, out});
  add(shapes[1][kernelIn], {in, kernelIn, -1}, FactorKind::Reduction);
  add(shapes[1][kernelOut] /
          std::max(groups, static_cast<int64_t>(op.getBatchGroupCount())),
      {-1, kernelOut, out});
}

/// Dims that have no factor yet.
void ConvolutionRule::addRest() {
  for (size_t tensor = 0; tensor < 3; ++tensor)
    for (auto [dim, size] : llvm::enumerate(shapes[tensor])) {
      int64_t at = dim;
      if (llvm::any_of(entries, [&](const Entry &entry) {
            return entry.dims[tensor] == at;
          }))
        continue;
      std::array<int64_t, 3> dims = {-1, -1, -1};
      dims[tensor] = at;
      add(size, dims,
          size == 1 ? FactorKind::PassThrough : FactorKind::NeedReplication);
    }
}

static void addTo(FactorRuleBuilder &builder, const Entry &entry,
                  std::array<int64_t, 3> dims) {
  int32_t factor =
      builder.add(entry.size, {dims[0], dims[1]}, {dims[2]}, entry.kind);
  if (!entry.window)
    return;
  FactorWindow window = *entry.window;
  window.factor = factor;
  builder.addWindow(window);
}

/// Factors of size 1 are left out of dims that have others.
FactorRule ConvolutionRule::combine() {
  int64_t rank = shapes[0].size();
  FactorRuleBuilder builder({rank, rank}, {rank});
  for (auto [i, entry] : llvm::enumerate(entries)) {
    std::array<int64_t, 3> dims = entry.dims;
    for (size_t tensor = 0; tensor < 3; ++tensor)
      for (auto [j, other] : llvm::enumerate(entries))
        if (i != j && dims[tensor] >= 0 && other.dims[tensor] == dims[tensor] &&
            entry.size == 1 && (other.size != 1 || j < i))
          dims[tensor] = -1;
    if (dims != std::array<int64_t, 3>{-1, -1, -1})
      addTo(builder, entry, dims);
  }
  return builder.build();
}

//===----------------------------------------------------------------------===//
// Local computation
//===----------------------------------------------------------------------===//

/// How many of `count` groups the device has: their factor is the first of dim
/// `dim` of the input.
static int64_t localGroups(LocalContext &context, int64_t count, int64_t dim) {
  if (count == 1)
    return 1;
  int32_t factor = context.rule().operands[0].dims[dim].front();
  return llvm::divideCeil(count, context.factorAxes(factor).numShards());
}

static LocalResults convolveLocally(ConvolutionOp op, OpBuilder &builder,
                                    ValueRange operands,
                                    LocalContext &context) {
  ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<WindowDim> window = op.getWindow();
  LocalMath math(builder, op.getLoc());
  Value lhs = operands[0], rhs = operands[1];
  auto zeroOf = [&](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return math.zero(RankedTensorType::get({}, type.getElementType()));
  };
  SmallVector<FactorWindow, 2> windows = context.shardWindows();
  SmallVector<ShardWindow, 2> fetched(windows.size());
  auto spatialDim = [&](const FactorWindow &slides) {
    int64_t in = context.rule().operands[0].dimOf(slides.factor);
    return llvm::find(numbers.getInputSpatialDimensions(), in) -
           numbers.getInputSpatialDimensions().begin();
  };
  // Windows side by side need nothing of others.
  for (auto [slides, sharded] : llvm::zip_equal(windows, fetched)) {
    size_t i = spatialDim(slides);
    int64_t kernel = numbers.getKernelSpatialDimensions()[i];
    if (context.rule().factors[slides.factor].kind == FactorKind::Indexed) {
      // What is behind the kernel's end sees the input's beginnings.
      rhs = context.fillEnd(builder, op.getLoc(), rhs, kernel, window[i].size,
                            context.factorAxes(slides.factor), zeroOf(rhs));
    }
    lhs = fetchWindow(builder, op.getLoc(), context, lhs, slides, zeroOf(lhs),
                      sharded);
  }
  for (auto [slides, sharded] : llvm::zip_equal(windows, fetched)) {
    size_t i = spatialDim(slides);
    lhs = alignWindow(builder, op.getLoc(), context, lhs, slides, zeroOf(lhs),
                      sharded);
    window[i].low = sharded.low;
    window[i].high = sharded.high;
    window[i].baseDilation = sharded.baseDilation;
  }
  Value convolved = cloneLocally(op, builder, {lhs, rhs}, context)[0];
  auto local = convolved.getDefiningOp<ConvolutionOp>();
  if (!window.empty()) {
    local.setPaddingAttr(paddingOf(builder, window));
    local.setLhsDilation(llvm::map_to_vector(
        window, [](const WindowDim &dim) { return dim.baseDilation; }));
  }
  local.setFeatureGroupCount(localGroups(context, op.getFeatureGroupCount(),
                                         numbers.getInputFeatureDimension()));
  local.setBatchGroupCount(localGroups(context, op.getBatchGroupCount(),
                                       numbers.getInputBatchDimension()));
  return SmallVector<Value>{convolved};
}

static std::optional<FactorRule> convolutionRule(ConvolutionOp op) {
  return ConvolutionRule(op).build();
}

void shardonnay::attachConvolutionModels(MLIRContext &context) {
  attachContraction<ConvolutionOp, convolutionRule>(context);
  attachLocal<ConvolutionOp, convolveLocally>(context);
}
