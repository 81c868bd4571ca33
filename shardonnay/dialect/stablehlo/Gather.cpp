//===- Gather.cpp - slices at indices that are data -----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"
#include "shardonnay/support/Diagnostics.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addGatherOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Gather.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Gather.cpp.inc"

//===----------------------------------------------------------------------===//
// gather and scatter: both relate a tensor that is addressed (operand, inputs),
// the indices, and a tensor of windows (result, updates)
//===----------------------------------------------------------------------===//

namespace {
struct Addressing {
  RankedTensorType tensor, indices;
  int64_t windowsRank;
  ArrayRef<int64_t> windowDims;          // of the tensor of windows
  ArrayRef<int64_t> droppedDims;         // of the tensor: no window dim
  ArrayRef<int64_t> batchingDims;        // of the tensor, likewise
  ArrayRef<int64_t> indicesBatchingDims; // of the indices, paired with those
  ArrayRef<int64_t> indexMap;            // index component -> tensor dim
  int64_t indexVectorDim;

  bool hasWindowDim(int64_t dim) const {
    return !llvm::is_contained(droppedDims, dim) &&
           !llvm::is_contained(batchingDims, dim);
  }
};
} // namespace

static SmallVector<int64_t> concat(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return llvm::to_vector(llvm::concat<const int64_t>(a, b));
}

static LogicalResult checkIndices(MaybeLoc location, const Addressing &a) {
  int64_t rank = a.indices.getRank();
  if (a.indexVectorDim < 0 || a.indexVectorDim > rank)
    return emitOptionalError(location, "index_vector_dim is ", a.indexVectorDim,
                             ", expected at most the rank ", rank,
                             " of the indices");
  int64_t components =
      a.indexVectorDim == rank ? 1 : a.indices.getDimSize(a.indexVectorDim);
  if (!sizesMatch(components, a.indexMap.size()))
    return emitOptionalError(location, "maps ", a.indexMap.size(),
                             " index components to dims, expected ",
                             components);
  if (llvm::is_contained(a.indicesBatchingDims, a.indexVectorDim))
    return emitOptionalError(location, "index_vector_dim ", a.indexVectorDim,
                             " is also a batching dim of the indices");
  return checkDims(location, "the index map",
                   concat(a.indexMap, a.batchingDims), a.tensor.getRank());
}

static LogicalResult checkBatching(MaybeLoc location, const Addressing &a) {
  if (failed(checkDims(location, "the batching dims of the indices",
                       a.indicesBatchingDims, a.indices.getRank())) ||
      failed(checkCount(location, "batching dims of the indices",
                        a.indicesBatchingDims.size(), a.batchingDims.size())))
    return failure();
  for (auto [dim, indicesDim] :
       llvm::zip(a.batchingDims, a.indicesBatchingDims))
    if (!sizesMatch(a.tensor.getDimSize(dim), a.indices.getDimSize(indicesDim)))
      return emitOptionalError(location, "batching dim ", dim, " of size ",
                               a.tensor.getDimSize(dim), " is paired with dim ",
                               indicesDim, " of the indices, of size ",
                               a.indices.getDimSize(indicesDim));
  return success();
}

static LogicalResult checkAddressing(MaybeLoc location, const Addressing &a) {
  int64_t rank = a.tensor.getRank();
  if (failed(checkDims(location, "the collapsed, inserted or batching dims",
                       concat(a.droppedDims, a.batchingDims), rank)) ||
      failed(
          checkSorted(location, "collapsed or inserted dims", a.droppedDims)) ||
      failed(checkSorted(location, "batching dims", a.batchingDims)) ||
      failed(checkBatching(location, a)) || failed(checkIndices(location, a)))
    return failure();
  int64_t windowRank = rank - a.droppedDims.size() - a.batchingDims.size();
  if (failed(checkCount(location, "window dims", a.windowDims.size(),
                        windowRank)) ||
      failed(
          checkDims(location, "the window dims", a.windowDims, a.windowsRank)))
    return failure();
  return checkSorted(location, "window dims", a.windowDims);
}

/// The sizes of the indices but for the dim that holds index components.
static SmallVector<int64_t> getBatchSizes(const Addressing &a) {
  SmallVector<int64_t> sizes(a.indices.getShape());
  if (a.indexVectorDim < a.indices.getRank())
    sizes.erase(sizes.begin() + a.indexVectorDim);
  return sizes;
}

/// Sizes of the tensor of windows: `window` at its window dims, the batch
/// sizes in between.
static SmallVector<int64_t> getWindowsShape(const Addressing &a,
                                            ArrayRef<int64_t> window) {
  SmallVector<int64_t> batch = getBatchSizes(a), shape;
  for (int64_t dim = 0, nextBatch = 0; dim < a.windowsRank; ++dim) {
    const auto *it = llvm::find(a.windowDims, dim);
    shape.push_back(it == a.windowDims.end()
                        ? batch[nextBatch++]
                        : window[it - a.windowDims.begin()]);
  }
  return shape;
}

/// Infers the types of both gathers; `sliceSizes` may be unknown.
static LogicalResult inferGather(MaybeLoc location, Value operand,
                                 Value startIndices,
                                 GatherDimensionNumbersAttr numbers,
                                 ArrayRef<int64_t> sliceSizes, Types &types) {
  Addressing a{cast<RankedTensorType>(operand.getType()),
               cast<RankedTensorType>(startIndices.getType()),
               /*windowsRank=*/0,
               numbers.getOffsetDims(),
               numbers.getCollapsedSliceDims(),
               numbers.getOperandBatchingDims(),
               numbers.getStartIndicesBatchingDims(),
               numbers.getStartIndexMap(),
               numbers.getIndexVectorDim()};
  bool hasVectorDim = a.indexVectorDim < a.indices.getRank();
  a.windowsRank =
      a.windowDims.size() + a.indices.getRank() - (hasVectorDim ? 1 : 0);
  if (failed(checkAddressing(location, a)) ||
      failed(checkCount(location, "slice sizes", sliceSizes.size(),
                        a.tensor.getRank())))
    return failure();
  SmallVector<int64_t> window;
  for (auto [dim, size] : llvm::enumerate(sliceSizes)) {
    bool isWindow = a.hasWindowDim(dim);
    int64_t limit = isWindow ? a.tensor.getDimSize(dim) : 1;
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(limit) &&
        size > limit)
      return emitOptionalError(location, "slice size ", size, " in dim ", dim,
                               ", expected at most ", limit);
    if (isWindow)
      window.push_back(size);
  }
  types.push_back(RankedTensorType::get(getWindowsShape(a, window),
                                        a.tensor.getElementType()));
  return success();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                         Adaptor adaptor, Types &types) {
  for (auto [dim, size] : llvm::enumerate(adaptor.getSliceSizes()))
    if (size < 0)
      return emitOptionalError(location, "slice size ", size, " in dim ", dim,
                               ", expected at least 0");
  return inferGather(location, adaptor.getOperand(), adaptor.getStartIndices(),
                     adaptor.getDimensionNumbers(), adaptor.getSliceSizes(),
                     types);
}

LogicalResult DynamicGatherOp::inferReturnTypes(MLIRContext *,
                                                MaybeLoc location,
                                                Adaptor adaptor, Types &types) {
  auto sizes = cast<RankedTensorType>(adaptor.getSliceSizes().getType());
  int64_t count = sizes.getDimSize(0);
  if (sizes.getElementType().isIndex())
    return emitOptionalError(location, "expected integers as slice sizes, got ",
                             sizes);
  // Not as many as a vector could hold: the count is checked first.
  if (failed(checkCount(
          location, "slice sizes", count,
          cast<RankedTensorType>(adaptor.getOperand().getType()).getRank())))
    return failure();
  SmallVector<int64_t> unknown(count, ShapedType::kDynamic);
  return inferGather(location, adaptor.getOperand(), adaptor.getStartIndices(),
                     adaptor.getDimensionNumbers(), unknown, types);
}

LogicalResult ScatterOp::verify() {
  if (getInputs().empty() || getNumOperands() % 2 == 0)
    return emitOpError("expected inputs, indices and as many updates, got ")
           << getNumOperands() << " operands";
  if (failed(checkCount(getLoc(), "results, one per input", getNumResults(),
                        getInputs().size())))
    return failure();
  auto updates = cast<RankedTensorType>(getUpdates().front().getType());
  ScatterDimensionNumbersAttr numbers = getScatterDimensionNumbers();
  Addressing a{cast<RankedTensorType>(getInputs().front().getType()),
               getScatterIndices().getType(),
               updates.getRank(),
               numbers.getUpdateWindowDims(),
               numbers.getInsertedWindowDims(),
               numbers.getInputBatchingDims(),
               numbers.getScatterIndicesBatchingDims(),
               numbers.getScatterDimsToOperandDims(),
               numbers.getIndexVectorDim()};
  if (failed(checkAddressing(getLoc(), a)) ||
      failed(checkCount(getLoc(), "dims of the updates", updates.getRank(),
                        a.windowDims.size() + getBatchSizes(a).size())))
    return failure();
  SmallVector<int64_t> window;
  for (auto [dim, size] : llvm::enumerate(a.tensor.getShape()))
    if (a.hasWindowDim(dim)) {
      int64_t windowSize = updates.getDimSize(a.windowDims[window.size()]);
      if (!ShapedType::isDynamic(size) && windowSize > size)
        return shardonnay::pointAtOperand(
            emitOpError("updates ") << windowSize << " elements in dim " << dim
                                    << " of size " << size,
            getUpdates().front());
      window.push_back(windowSize);
    }
  SmallVector<int64_t> expected = getWindowsShape(a, window);
  for (auto [input, update, result] :
       llvm::zip(getInputs(), getUpdates(), getResults())) {
    if (failed(checkShape(getLoc(), "an update",
                          cast<ShapedType>(update.getType()).getShape(),
                          expected)) ||
        failed(checkShape(getLoc(), "an input",
                          cast<ShapedType>(input.getType()).getShape(),
                          a.tensor.getShape())) ||
        failed(checkShape(getLoc(), "a result",
                          cast<ShapedType>(result.getType()).getShape(),
                          a.tensor.getShape())))
      return failure();
  }
  return success();
}

LogicalResult ScatterOp::verifyRegions() {
  return checkCombiner(*this, getUpdateComputation(), getInputs().getTypes(),
                       getUpdates().getTypes(), getResultTypes());
}

//===----------------------------------------------------------------------===//
// dynamic_slice, dynamic_update_slice
//===----------------------------------------------------------------------===//

/// That there is one start index per dim, all of one type.
static LogicalResult checkStarts(MaybeLoc location, ValueRange starts,
                                 int64_t rank) {
  if (!llvm::all_equal(starts.getTypes()))
    return emitOptionalError(location,
                             "expected start indices of one type, got ",
                             starts.getTypes());
  return checkCount(location, "start indices, one per dim", starts.size(),
                    rank);
}

static LogicalResult checkWindow(MaybeLoc location, ArrayRef<int64_t> window,
                                 RankedTensorType operand) {
  if (failed(checkCount(location, "sizes, one per dim", window.size(),
                        operand.getRank())))
    return failure();
  for (auto [dim, size] : llvm::enumerate(window)) {
    int64_t limit = operand.getDimSize(dim);
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(limit))
      continue;
    if (size < 0 || size > limit)
      return emitOptionalError(location, "window of size ", size, " in dim ",
                               dim, ", expected at most ", limit);
  }
  return success();
}

LogicalResult DynamicSliceOp::inferReturnTypes(MLIRContext *, MaybeLoc location,
                                               Adaptor adaptor, Types &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  for (auto [dim, size] : llvm::enumerate(adaptor.getSliceSizes()))
    if (size < 0)
      return emitOptionalError(location, "slice size ", size, " in dim ", dim,
                               ", expected at least 0");
  types.push_back(
      RankedTensorType::get(adaptor.getSliceSizes(), operand.getElementType()));
  if (failed(
          checkStarts(location, adaptor.getStartIndices(), operand.getRank())))
    return failure();
  return checkWindow(location, adaptor.getSliceSizes(), operand);
}

LogicalResult DynamicUpdateSliceOp::inferReturnTypes(MLIRContext *,
                                                     MaybeLoc location,
                                                     Adaptor adaptor,
                                                     Types &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto update = cast<RankedTensorType>(adaptor.getUpdate().getType());
  types.push_back(operand);
  if (operand.getElementType() != update.getElementType())
    return emitOptionalError(location, "can't update ", operand, " with ",
                             update);
  if (failed(
          checkStarts(location, adaptor.getStartIndices(), operand.getRank())))
    return failure();
  return checkWindow(location, update.getShape(), operand);
}
