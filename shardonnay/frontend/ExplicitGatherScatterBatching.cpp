//===- ExplicitGatherScatterBatching.cpp ----------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each gather and scatter, as long as there is one:
//   1. findIota: a part of the concatenated indices that, of one operand dim,
//      counts along a batch dim (countsAlong).
//   2. That operand dim is batched with the batch dim, and the part goes.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/frontend/Passes.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_EXPLICITGATHERSCATTERBATCHINGPASS
#include "shardonnay/frontend/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// All elements of the constant `value` are in [low, high].
bool isConstantIn(Value value, int64_t low, int64_t high) {
  DenseIntElementsAttr elements;
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = broadcast.getOperand();
  return matchPattern(value, m_Constant(&elements)) &&
         llvm::all_of(elements.getValues<APInt>(), [&](const APInt &element) {
           int64_t number = element.getSExtValue();
           return low <= number && number <= high;
         });
}

/// The dim of the reshape's operand that is dim `dim` of its result, both being
/// the same but for dims of size 1; -1 if there is none.
int64_t dimBeforeReshape(stablehlo::ReshapeOp op, int64_t dim) {
  auto rank = [](RankedTensorType type, int64_t before) {
    return llvm::count_if(type.getShape().take_front(before),
                          [](int64_t size) { return size != 1; });
  };
  RankedTensorType from = typeOf(op.getOperand()), to = typeOf(op.getResult());
  auto isLong = [](int64_t size) { return size != 1; };
  if (!llvm::equal(llvm::make_filter_range(from.getShape(), isLong),
                   llvm::make_filter_range(to.getShape(), isLong)) ||
      to.getDimSize(dim) == 1)
    return -1;
  for (int64_t i = 0; i < from.getRank(); ++i)
    if (from.getDimSize(i) != 1 && rank(from, i) == rank(to, dim))
      return i;
  return -1;
}

/// Every element of `value` is its index along `dim`.
bool countsAlong(Value value, int64_t dim);

/// x where x is never negative: what is chosen instead of negative indices.
bool countsWhereChosen(stablehlo::SelectOp op, int64_t dim) {
  auto compare = op.getPred().getDefiningOp<stablehlo::CompareOp>();
  if (!compare || !countsAlong(op.getOnFalse(), dim))
    return false;
  return compare.getComparisonDirection() ==
             stablehlo::ComparisonDirection::LT &&
         compare.getLhs() == op.getOnFalse() &&
         isConstantIn(compare.getRhs(), 0, 0);
}

bool countsAlong(Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  if (auto iota = dyn_cast_if_present<stablehlo::IotaOp>(op))
    return static_cast<int64_t>(iota.getIotaDimension()) == dim;
  if (auto convert = dyn_cast_if_present<stablehlo::ConvertOp>(op))
    return countsAlong(convert.getOperand(), dim);
  if (auto broadcast = dyn_cast_if_present<stablehlo::BroadcastInDimOp>(op)) {
    Value operand = broadcast.getOperand();
    for (auto [from, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (to == dim &&
          typeOf(operand).getDimSize(from) == typeOf(value).getDimSize(dim))
        return countsAlong(operand, from);
    return false;
  }
  if (auto reshape = dyn_cast_if_present<stablehlo::ReshapeOp>(op)) {
    int64_t before = dimBeforeReshape(reshape, dim);
    return before >= 0 && countsAlong(reshape.getOperand(), before);
  }
  if (auto clamp = dyn_cast_if_present<stablehlo::ClampOp>(op)) {
    constexpr int64_t any = std::numeric_limits<int64_t>::max();
    return isConstantIn(clamp.getMin(), -any, 0) &&
           isConstantIn(clamp.getMax(), typeOf(value).getDimSize(dim) - 1,
                        any) &&
           countsAlong(clamp.getOperand(), dim);
  }
  if (auto select = dyn_cast_if_present<stablehlo::SelectOp>(op))
    return countsWhereChosen(select, dim);
  return false;
}

/// What gather and scatter have in common.
struct Batching {
  Value indices;
  RankedTensorType operand;
  int64_t indexVectorDim;
  SmallVector<int64_t> indexMap, windowless, operandBatch, indicesBatch;

  /// Batches one more dim; false if there is none.
  bool advance(OpBuilder &builder);

private:
  /// The batch dim of the indices that `part`, along which one operand dim of
  /// `size` is indexed, counts along; -1 if there is none.
  int64_t findBatchDim(Value part, int64_t size);
  void batch(int64_t component, int64_t batchDim);
};

int64_t Batching::findBatchDim(Value part, int64_t size) {
  for (int64_t dim = 0, rank = typeOf(part).getRank(); dim < rank; ++dim)
    if (dim != indexVectorDim && typeOf(part).getDimSize(dim) == size &&
        !llvm::is_contained(indicesBatch, dim) && countsAlong(part, dim))
      return dim;
  return -1;
}

void Batching::batch(int64_t component, int64_t batchDim) {
  int64_t dim = indexMap[component];
  indexMap.erase(indexMap.begin() + component);
  llvm::erase(windowless, dim);
  auto *at = llvm::lower_bound(operandBatch, dim);
  indicesBatch.insert(indicesBatch.begin() + (at - operandBatch.begin()),
                      batchDim);
  operandBatch.insert(at, dim);
}

bool Batching::advance(OpBuilder &builder) {
  auto concat = indices.getDefiningOp<stablehlo::ConcatenateOp>();
  if (!concat || concat.getInputs().size() < 2 ||
      static_cast<int64_t>(concat.getDimension()) != indexVectorDim)
    return false;
  int64_t component = 0;
  for (auto [i, part] : llvm::enumerate(concat.getInputs())) {
    int64_t components = typeOf(part).getDimSize(indexVectorDim);
    int64_t dim = components == 1 ? indexMap[component] : -1;
    if (dim >= 0 && llvm::is_contained(windowless, dim)) {
      int64_t batchDim = findBatchDim(part, operand.getDimSize(dim));
      if (batchDim >= 0) {
        batch(component, batchDim);
        SmallVector<Value> rest(concat.getInputs());
        rest.erase(rest.begin() + i);
        indices = rest.front();
        if (rest.size() > 1)
          indices = stablehlo::ConcatenateOp::create(builder, concat.getLoc(),
                                                     rest, indexVectorDim);
        return true;
      }
    }
    component += components;
  }
  return false;
}

void makeExplicit(stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  OpBuilder builder(op);
  Batching batching{op.getStartIndices(),
                    typeOf(op.getOperand()),
                    numbers.getIndexVectorDim(),
                    llvm::to_vector(numbers.getStartIndexMap()),
                    llvm::to_vector(numbers.getCollapsedSliceDims()),
                    llvm::to_vector(numbers.getOperandBatchingDims()),
                    llvm::to_vector(numbers.getStartIndicesBatchingDims())};
  if (!batching.advance(builder))
    return;
  while (batching.advance(builder)) {
  }
  op.getStartIndicesMutable().assign(batching.indices);
  op.setDimensionNumbersAttr(stablehlo::GatherDimensionNumbersAttr::get(
      op.getContext(), numbers.getOffsetDims(), batching.windowless,
      batching.operandBatch, batching.indicesBatch, batching.indexMap,
      batching.indexVectorDim));
  op.setIndicesAreSorted(false);
}

void makeExplicit(stablehlo::ScatterOp op) {
  stablehlo::ScatterDimensionNumbersAttr numbers =
      op.getScatterDimensionNumbers();
  OpBuilder builder(op);
  Batching batching{op.getScatterIndices(),
                    typeOf(op.getInputs().front()),
                    numbers.getIndexVectorDim(),
                    llvm::to_vector(numbers.getScatterDimsToOperandDims()),
                    llvm::to_vector(numbers.getInsertedWindowDims()),
                    llvm::to_vector(numbers.getInputBatchingDims()),
                    llvm::to_vector(numbers.getScatterIndicesBatchingDims())};
  if (!batching.advance(builder))
    return;
  while (batching.advance(builder)) {
  }
  op.getScatterIndicesMutable().assign(batching.indices);
  op.setScatterDimensionNumbersAttr(stablehlo::ScatterDimensionNumbersAttr::get(
      op.getContext(), numbers.getUpdateWindowDims(), batching.windowless,
      batching.operandBatch, batching.indicesBatch, batching.indexMap,
      batching.indexVectorDim));
  op.setIndicesAreSorted(false);
}

struct ExplicitGatherScatterBatchingPass
    : impl::ExplicitGatherScatterBatchingPassBase<
          ExplicitGatherScatterBatchingPass> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::GatherOp op) { makeExplicit(op); });
    getOperation().walk([](stablehlo::ScatterOp op) { makeExplicit(op); });
  }
};

} // namespace

} // namespace shardonnay
