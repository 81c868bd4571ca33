//===- SlicesToBatches.cpp - batches by their numbers ---------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//  1. `findBatch`: a dynamic slice in a loop is a batch of a tensor that no run
//     changes (`findSource`) if it is whole in all dims but one, its size there
//     divides the dim, and it starts at a count of runs (`isCount`) times its
//     size;
//  2. `BatchedTensors::get`: a reshape of that tensor behind what makes it has
//     a dim of batches and one of the rows of a batch;
//  3. the slice takes its batch of that by the count, and so do slices of the
//     tensor outside of the loop that are batches (`takeFixed`);
//  4. `eraseReplaced`: the slices go, and what computed where they start.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/TripCount.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/frontend/LoopValues.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "shardonnay/interfaces/ProgramOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_SLICESTOBATCHESPASS
#include "shardonnay/frontend/Passes.h.inc"

namespace {

using sdy::readInteger;
using stablehlo::DynamicSliceOp;
using stablehlo::SliceOp;
using stablehlo::WhileOp;

/// How a tensor is split: `dim` into batches of `rows`.
struct BatchedDim {
  Value source;
  int64_t dim = 0, rows = 0;

  RankedTensorType type() const {
    return cast<RankedTensorType>(source.getType());
  }
  int64_t numBatches() const { return type().getDimSize(dim) / rows; }
  RankedTensorType batchedType() const {
    SmallVector<int64_t> shape(type().getShape());
    shape[dim] = rows;
    shape.insert(shape.begin() + dim, numBatches());
    return RankedTensorType::get(shape, type().getElementType());
  }
};

/// A slice of a loop, and what counts its batches.
struct Batch {
  DynamicSliceOp slice;
  BatchedDim of;
  Value number;
};

/// The dim of which `sizes` are a part, if it is one and they divide it.
std::optional<int64_t> findBatchedDim(ArrayRef<int64_t> sizes,
                                      RankedTensorType whole) {
  std::optional<int64_t> found;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (size == whole.getDimSize(dim))
      continue;
    if (found || size < 2 || whole.getDimSize(dim) % size != 0)
      return std::nullopt;
    found = dim;
  }
  return found;
}

/// `value` where a negative one would count from the end, as JAX has it.
Value withoutWrap(Value value) {
  auto select = value.getDefiningOp<stablehlo::SelectOp>();
  if (!select)
    return value;
  auto compare = select.getPred().getDefiningOp<stablehlo::CompareOp>();
  bool isWrap =
      compare &&
      compare.getComparisonDirection() == stablehlo::ComparisonDirection::LT &&
      compare.getLhs() == select.getOnFalse() &&
      readInteger(compare.getRhs()) == 0;
  return isWrap ? select.getOnFalse() : value;
}

/// `value` is in run i of `loop` what it is in the first plus i, and less than
/// `limit` in all.
bool isCount(WhileOp loop, Value value, int64_t limit) {
  std::optional<int64_t> trips = findTripCount(loop);
  if (!trips)
    return false;
  if (std::optional<int64_t> first = findFirstCount(loop, value))
    return *first >= 0 && *first <= limit - *trips;
  // An element of an iota at a count, as scans over `jnp.arange` have it.
  auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>();
  auto element = reshape ? reshape.getOperand().getDefiningOp<DynamicSliceOp>()
                         : DynamicSliceOp();
  if (!element || element.getType().getRank() != 1)
    return false;
  Value numbers = findUnchanged(loop, element.getOperand());
  auto iota = numbers ? numbers.getDefiningOp<stablehlo::IotaOp>()
                      : stablehlo::IotaOp();
  return iota && isCount(loop, element.getStartIndices().front(),
                         std::min(limit, iota.getType().getNumElements()));
}

/// What `value` is before the outermost of the loops around it that change
/// nothing of it.
Value findSource(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<WhileOp>(argument.getOwner()->getParentOp());
    Value before = loop ? findUnchanged(loop, value) : Value();
    if (!before || before == value)
      break;
    value = before;
  }
  return value;
}

std::optional<Batch> findBatch(DynamicSliceOp slice) {
  auto loop = slice->getParentOfType<WhileOp>();
  auto type = cast<RankedTensorType>(slice.getOperand().getType());
  if (!loop || !type.hasStaticShape() || type.getEncoding())
    return std::nullopt;
  std::optional<int64_t> dim = findBatchedDim(slice.getSliceSizes(), type);
  if (!dim)
    return std::nullopt;
  BatchedDim of{findSource(slice.getOperand()), *dim,
                slice.getSliceSizes()[*dim]};
  auto product = withoutWrap(slice.getStartIndices()[*dim])
                     .getDefiningOp<stablehlo::MulOp>();
  if (loop->isAncestor(of.source.getParentRegion()->getParentOp()) || !product)
    return std::nullopt;
  // No product is larger than the type of positions holds.
  auto position =
      dyn_cast<IntegerType>(getElementTypeOrSelf(product.getType()));
  if (!position || position.getWidth() < 32)
    return std::nullopt;
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  for (bool swap : {false, true})
    if (readInteger(product->getOperand(!swap)) == of.rows &&
        isCount(loop, product->getOperand(swap), kLargest / of.rows))
      return Batch{slice, of, product->getOperand(swap)};
  return std::nullopt;
}

/// The number of the batch of `of` that `slice` is.
std::optional<int64_t> findFixedBatch(SliceOp slice, const BatchedDim &of) {
  for (int64_t dim = 0, e = of.type().getRank(); dim < e; ++dim) {
    int64_t start = slice.getStartIndices()[dim];
    int64_t size = dim == of.dim ? of.rows : of.type().getDimSize(dim);
    if (slice.getStrides()[dim] != 1 || start % size != 0 ||
        slice.getLimitIndices()[dim] != start + size)
      return std::nullopt;
  }
  return slice.getStartIndices()[of.dim] / of.rows;
}

/// Tensors with a dim of batches, each made once, and the slices that take
/// their batches of these.
class BatchedTensors {
public:
  void takeByNumber(const Batch &batch);
  void eraseReplaced();

private:
  Value get(const BatchedDim &of);
  void takeFixed(const BatchedDim &of, Value batched);
  /// By the rows of `batch`.
  void replace(OpBuilder &builder, Operation *slice, Value batch);

  llvm::MapVector<std::tuple<Value, int64_t, int64_t>, Value> known;
  SmallVector<Operation *> replaced;
};

void BatchedTensors::replace(OpBuilder &builder, Operation *slice,
                             Value batch) {
  auto rows = stablehlo::ReshapeOp::create(
      builder, slice->getLoc(), slice->getResult(0).getType(), batch);
  rows->setDiscardableAttrs(slice->getDiscardableAttrDictionary());
  slice->getResult(0).replaceAllUsesWith(rows);
  replaced.push_back(slice);
}

Value BatchedTensors::get(const BatchedDim &of) {
  Value &batched = known[{of.source, of.dim, of.rows}];
  if (batched)
    return batched;
  OpBuilder builder(of.source.getContext());
  builder.setInsertionPointAfterValue(of.source);
  batched = stablehlo::ReshapeOp::create(builder, of.source.getLoc(),
                                         of.batchedType(), of.source);
  takeFixed(of, batched);
  return batched;
}

void BatchedTensors::takeFixed(const BatchedDim &of, Value batched) {
  int64_t rank = of.batchedType().getRank();
  for (Operation *user : of.source.getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    std::optional<int64_t> number =
        slice && !slice->use_empty() ? findFixedBatch(slice, of) : std::nullopt;
    if (!number)
      continue;
    SmallVector<int64_t> starts(rank, 0), strides(rank, 1),
        limits(of.batchedType().getShape());
    starts[of.dim] = *number;
    limits[of.dim] = *number + 1;
    OpBuilder builder(slice);
    replace(builder, slice,
            SliceOp::create(builder, slice.getLoc(), batched, starts, limits,
                            strides));
  }
}

void BatchedTensors::takeByNumber(const Batch &batch) {
  Value batched = get(batch.of);
  DynamicSliceOp slice = batch.slice;
  OpBuilder builder(slice);
  auto position = cast<RankedTensorType>(batch.number.getType());
  Value zero = stablehlo::ConstantOp::create(
      builder, slice.getLoc(),
      DenseElementsAttr::get(position,
                             builder.getZeroAttr(position.getElementType())));
  SmallVector<Value> starts(slice.getStartIndices());
  starts[batch.of.dim] = zero;
  starts.insert(starts.begin() + batch.of.dim, batch.number);
  SmallVector<int64_t> sizes(batch.of.batchedType().getShape());
  sizes[batch.of.dim] = 1;
  replace(
      builder, slice,
      DynamicSliceOp::create(builder, slice.getLoc(), batched, starts, sizes));
}

void BatchedTensors::eraseReplaced() {
  llvm::SetVector<Operation *> unread(replaced.begin(), replaced.end());
  while (!unread.empty()) {
    Operation *op = unread.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        unread.insert(producer);
    op->erase();
  }
}

struct SlicesToBatchesPass
    : impl::SlicesToBatchesPassBase<SlicesToBatchesPass> {
  void runOnOperation() override {
    auto &kinds = getAnalysis<OpKinds>();
    if (!kinds.mayHave<WhileOp>() || !kinds.mayHave<DynamicSliceOp>())
      return markAllAnalysesPreserved();
    // Those whose rows are sliced again come before what they are sliced into.
    SmallVector<DynamicSliceOp> slices;
    for (Operation *op : getAnalysis<ProgramOps>())
      if (auto slice = dyn_cast<DynamicSliceOp>(op))
        slices.push_back(slice);
    BatchedTensors tensors;
    bool changed = false;
    for (DynamicSliceOp slice : slices)
      if (std::optional<Batch> batch = findBatch(slice)) {
        tensors.takeByNumber(*batch);
        changed = true;
      }
    if (!changed)
      return markAllAnalysesPreserved();
    tensors.eraseReplaced();
  }
};

} // namespace
} // namespace shardonnay
