//===- Window.cpp - reductions of windows ---------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/support/Diagnostics.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addWindowOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Window.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Window.cpp.inc"

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

int64_t WindowDim::baseSize(int64_t size) const {
  int64_t dilated = size == 0 ? 0 : (size - 1) * baseDilation + 1;
  return dilated + low + high;
}

int64_t WindowDim::count(int64_t base) const {
  if (ShapedType::isDynamic(base) || ShapedType::isDynamic(size))
    return ShapedType::kDynamic;
  int64_t room = baseSize(base) - extent();
  return room < 0 || baseSize(base) == 0 ? 0 : room / stride + 1;
}

bool WindowDim::operator==(const WindowDim &o) const {
  return size == o.size && stride == o.stride && low == o.low &&
         high == o.high && baseDilation == o.baseDilation &&
         dilation == o.dilation && reversed == o.reversed;
}

/// Sizes, strides, dilations and paddings beyond this are refused, and products
/// of them, so that sums of three stay exact.
static constexpr int64_t kLargest = int64_t(1) << 61;

/// That `size` elements, `dilation` apart, are not too far apart.
static LogicalResult checkReach(MaybeLoc location, StringRef what, int64_t dim,
                                int64_t size, int64_t dilation) {
  int64_t reach;
  if (ShapedType::isDynamic(size) || size < 2 ||
      (!llvm::MulOverflow(size - 1, dilation, reach) && reach < kLargest))
    return success();
  return emitOptionalError(location, "dilates dim ", dim, " of ", what,
                           " to more than 2^61 positions");
}

LogicalResult stablehlo::checkBase(MaybeLoc location, ArrayRef<int64_t> shape,
                                   ArrayRef<WindowDim> window) {
  for (auto [dim, size, entry] : llvm::enumerate(shape, window))
    if (failed(checkReach(location, "the base", dim, size, entry.baseDilation)))
      return failure();
  return success();
}

/// Calls `set` with each value, if there are any: as many as window dims.
template <typename T, typename SetT>
static LogicalResult forEachDim(MaybeLoc location, StringRef what,
                                std::optional<ArrayRef<T>> values, size_t rank,
                                SetT set) {
  if (!values || values->empty())
    return success();
  if (failed(checkCount(location, what, values->size(), rank)))
    return failure();
  for (auto [dim, value] : llvm::enumerate(*values))
    set(dim, value);
  return success();
}

static LogicalResult checkPositive(MaybeLoc location, StringRef what,
                                   int64_t dim, int64_t value) {
  if (value > 0 && value <= kLargest)
    return success();
  return emitOptionalError(location, "expected ", what, " of dim ", dim,
                           " of the window between 1 and 2^61, got ", value);
}

static LogicalResult readPadding(MaybeLoc location,
                                 std::optional<DenseIntElementsAttr> padding,
                                 MutableArrayRef<WindowDim> window) {
  if (!padding)
    return success();
  ShapedType type = padding->getType();
  if (type.getRank() != 2 || type.getDimSize(1) != 2)
    return emitOptionalError(location,
                             "expected a padding with a row of 2 per ",
                             "dim of the window, got ", type);
  if (type.getNumElements() == 0)
    return success();
  if (failed(checkCount(location, "rows of the padding, one per window dim",
                        type.getDimSize(0), window.size())))
    return failure();
  auto values = padding->getValues<int64_t>();
  for (auto [dim, entry] : llvm::enumerate(window)) {
    entry.low = values[2 * dim];
    entry.high = values[2 * dim + 1];
    if (std::max(entry.low, entry.high) > kLargest ||
        std::min(entry.low, entry.high) < -kLargest)
      return emitOptionalError(location, "pads dim ", dim, " by ", entry.low,
                               " and ", entry.high,
                               ", expected less than 2^61");
  }
  return success();
}

FailureOr<SmallVector<WindowDim>>
stablehlo::readWindow(MaybeLoc location, const WindowAttributes &attributes) {
  SmallVector<WindowDim> window(attributes.sizes.size());
  for (auto [dim, size] : llvm::zip(window, attributes.sizes))
    dim.size = size;
  auto set = [&](auto field) {
    return [&window, field](size_t dim, auto value) {
      window[dim].*field = value;
    };
  };
  size_t rank = window.size();
  if (failed(forEachDim(location, "strides, one per window dim",
                        attributes.strides, rank, set(&WindowDim::stride))) ||
      failed(forEachDim(location, "base dilations, one per window dim",
                        attributes.baseDilations, rank,
                        set(&WindowDim::baseDilation))) ||
      failed(forEachDim(location, "window dilations, one per window dim",
                        attributes.dilations, rank,
                        set(&WindowDim::dilation))) ||
      failed(forEachDim(location, "reversals, one per window dim",
                        attributes.reversals, rank,
                        set(&WindowDim::reversed))) ||
      failed(readPadding(location, attributes.padding, window)))
    return failure();
  for (auto [dim, entry] : llvm::enumerate(window))
    if ((!ShapedType::isDynamic(entry.size) &&
         failed(checkPositive(location, "the size", dim, entry.size))) ||
        failed(checkPositive(location, "the stride", dim, entry.stride)) ||
        failed(checkPositive(location, "the base dilation", dim,
                             entry.baseDilation)) ||
        failed(checkPositive(location, "the dilation", dim, entry.dilation)) ||
        failed(checkReach(location, "the window", dim, entry.size,
                          entry.dilation)))
      return failure();
  return window;
}

/// Sizes that an attribute gives are known; a kernel's need not be.
static LogicalResult checkSizes(Location loc, ArrayRef<int64_t> sizes) {
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size <= 0)
      return emitError(loc) << "expected a window of size 1 or more in dim "
                            << dim << ", got " << size;
  return success();
}

static SmallVector<int64_t> countWindows(RankedTensorType type,
                                         ArrayRef<WindowDim> window) {
  SmallVector<int64_t> shape;
  for (auto [size, dim] : llvm::zip(type.getShape(), window))
    shape.push_back(dim.count(size));
  return shape;
}

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

static WindowAttributes attributesOf(ReduceWindowOp op) {
  return {op.getWindowDimensions(), op.getWindowStrides(),   op.getPadding(),
          op.getBaseDilations(),    op.getWindowDilations(), std::nullopt};
}

SmallVector<WindowDim> ReduceWindowOp::getWindow() {
  return *readWindow(std::nullopt, attributesOf(*this));
}

LogicalResult ReduceWindowOp::verify() {
  if (failed(checkInits(*this)) ||
      failed(checkCount(getLoc(), "results, one per input", getNumResults(),
                        getInputs().size())))
    return failure();
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  if (failed(checkCount(getLoc(), "sizes of the window, one per dim",
                        getWindowDimensions().size(), first.getRank())) ||
      failed(checkSizes(getLoc(), getWindowDimensions())))
    return failure();
  FailureOr<SmallVector<WindowDim>> window =
      readWindow(getLoc(), attributesOf(*this));
  if (failed(window))
    return failure();
  for (auto [input, result] : llvm::zip(getInputs(), getResults())) {
    auto type = cast<RankedTensorType>(input.getType());
    if (failed(checkShape(getLoc(), "an input of the reduction",
                          type.getShape(), first.getShape())) ||
        failed(checkBase(getLoc(), type.getShape(), *window)) ||
        failed(checkShape(getLoc(), "a result of the reduction",
                          cast<ShapedType>(result.getType()).getShape(),
                          countWindows(type, *window))))
      return failure();
  }
  return success();
}

LogicalResult ReduceWindowOp::verifyRegions() {
  return checkCombiner(*this, getBody(), getInputs().getTypes(),
                       getInitValues().getTypes(), getResultTypes());
}

//===----------------------------------------------------------------------===//
// select_and_scatter
//===----------------------------------------------------------------------===//

static WindowAttributes attributesOf(SelectAndScatterOp op) {
  return {op.getWindowDimensions().value_or(ArrayRef<int64_t>()),
          op.getWindowStrides(),
          op.getPadding(),
          std::nullopt,
          std::nullopt,
          std::nullopt};
}

SmallVector<WindowDim> SelectAndScatterOp::getWindow() {
  return *readWindow(std::nullopt, attributesOf(*this));
}

LogicalResult SelectAndScatterOp::verify() {
  RankedTensorType operand = getOperand().getType();
  WindowAttributes attributes = attributesOf(*this);
  if (failed(checkCount(getLoc(), "sizes of the window, one per dim",
                        attributes.sizes.size(), operand.getRank())) ||
      failed(checkSizes(getLoc(), attributes.sizes)))
    return failure();
  FailureOr<SmallVector<WindowDim>> window = readWindow(getLoc(), attributes);
  if (failed(window) ||
      failed(checkBase(getLoc(), operand.getShape(), *window)) ||
      failed(checkShape(getLoc(), "the source, with an element per window,",
                        getSource().getType().getShape(),
                        countWindows(operand, *window))))
    return failure();
  return checkShape(getLoc(), "the result", getResult().getType().getShape(),
                    operand.getShape());
}

LogicalResult SelectAndScatterOp::verifyRegions() {
  auto scalar =
      RankedTensorType::get({}, getOperand().getType().getElementType());
  Block &select = getSelect().front();
  auto isPredicate = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 0 && type.getElementType().isInteger(1);
  };
  auto isSelectable = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor &&
           (areCompatible(tensor, scalar) ||
            (tensor.getRank() == 0 && isa<FloatType>(tensor.getElementType()) &&
             isa<FloatType>(scalar.getElementType())));
  };
  if (select.getNumArguments() != 2 || !select.mightHaveTerminator() ||
      !llvm::all_of(select.getArgumentTypes(), isSelectable))
    return emitOpError("expected to select by a function of two ") << scalar;
  ValueRange selected = select.getTerminator()->getOperands();
  if (selected.size() != 1 || !isPredicate(selected.front()))
    return shardonnay::pointAt(
        emitOpError("expected to select by a function to tensor<i1>"),
        select.getTerminator()->getLoc(), "returned here");
  return checkCombiner(*this, getScatter(), getSource().getType(),
                       getInitValue().getType(), getResult().getType());
}
