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
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/frontend/Passes.h"
#include "shardonnay/interfaces/OpKinds.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_EXPLICITGATHERSCATTERBATCHINGPASS
#include "shardonnay/frontend/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Numbers of this type hold 0, .., size - 1, each as itself.
bool canCount(Value value, int64_t size) {
  Type type = typeOf(value).getElementType();
  unsigned bits = 0;
  if (auto integer = dyn_cast<IntegerType>(type))
    bits = integer.getWidth() - !integer.isUnsigned();
  else if (auto number = dyn_cast<FloatType>(type))
    bits = number.getFPMantissaWidth();
  return bits >= 63 || size <= int64_t{1} << bits;
}

/// The elements of a constant, or of what is broadcast of a constant.
DenseIntElementsAttr readConstant(Value value) {
  DenseIntElementsAttr elements;
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = broadcast.getOperand();
  matchPattern(value, m_Constant(&elements));
  return elements;
}

/// All elements of the constant `value` are in [low, high].
bool isConstantIn(Value value, int64_t low, int64_t high) {
  DenseIntElementsAttr elements = readConstant(value);
  bool isUnsigned = elements && elements.getElementType().isUnsignedInteger();
  return elements &&
         llvm::all_of(elements.getValues<APInt>(), [&](const APInt &element) {
           APSInt number(element, isUnsigned);
           return APSInt::compareValues(number, APSInt::get(low)) >= 0 &&
                  APSInt::compareValues(number, APSInt::get(high)) <= 0;
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
bool countsBefore(stablehlo::SelectOp op, int64_t dim) {
  if (!countsAlong(op.getOnFalse(), dim))
    return false;
  auto compare = op.getPred().getDefiningOp<stablehlo::CompareOp>();
  if (!compare) // numpy has compared.
    return isConstantIn(op.getPred(), 0, 0);
  return compare.getComparisonDirection() ==
             stablehlo::ComparisonDirection::LT &&
         compare.getLhs() == op.getOnFalse() &&
         isConstantIn(compare.getRhs(), 0, 0);
}

bool countsBefore(stablehlo::BroadcastInDimOp op, int64_t dim) {
  for (auto [from, to] : llvm::enumerate(op.getBroadcastDimensions()))
    if (to == dim && typeOf(op.getOperand()).getDimSize(from) ==
                         op.getType().getDimSize(dim))
      return countsAlong(op.getOperand(), from);
  return false;
}

bool countsBefore(stablehlo::ClampOp op, int64_t dim) {
  constexpr int64_t any = std::numeric_limits<int64_t>::max();
  return isConstantIn(op.getMin(), -any, 0) &&
         isConstantIn(op.getMax(), op.getType().getDimSize(dim) - 1, any) &&
         countsAlong(op.getOperand(), dim);
}

bool countsBefore(stablehlo::ConstantOp op, int64_t dim) {
  auto elements = dyn_cast<DenseIntElementsAttr>(op.getValue());
  if (!elements || elements.isSplat())
    return false;
  auto type = cast<RankedTensorType>(op.getType());
  int64_t stride =
      ShapedType::getNumElements(type.getShape().drop_front(dim + 1));
  return llvm::all_of(llvm::enumerate(elements.getValues<APInt>()),
                      [&](const auto &element) {
                        return element.value() ==
                               element.index() / stride % type.getDimSize(dim);
                      });
}

/// x * 1 and x + 0, as torch-mlir writes an arange's step and start.
template <typename ArithmeticOp>
bool countsBefore(ArithmeticOp op, int64_t dim) {
  int64_t neutral = std::is_same_v<ArithmeticOp, stablehlo::MulOp>;
  return (isConstantIn(op.getRhs(), neutral, neutral) &&
          countsAlong(op.getLhs(), dim)) ||
         (isConstantIn(op.getLhs(), neutral, neutral) &&
          countsAlong(op.getRhs(), dim));
}

/// The value of which `value` is another name; null if it is none.
Value otherName(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<sdy::ShardingConstraintOp, sdy::ReshardOp,
                      sdy::PropagationBarrierOp>(op))
    return op->getOperand(0);
  if (isa_and_present<stablehlo::OptimizationBarrierOp>(op))
    return op->getOperand(cast<OpResult>(value).getResultNumber());
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop =
      argument
          ? dyn_cast<stablehlo::WhileOp>(argument.getOwner()->getParentOp())
          : nullptr;
  if (!loop)
    return nullptr;
  // What a loop carries unchanged is what it begins with.
  unsigned number = argument.getArgNumber();
  bool isUnchanged = loop.getBody().front().getTerminator()->getOperand(
                         number) == loop.getBody().getArgument(number);
  return isUnchanged ? loop->getOperand(number) : nullptr;
}

bool countsAlong(Value value, int64_t dim) {
  if (!canCount(value, typeOf(value).getDimSize(dim)))
    return false;
  while (Value other = otherName(value))
    value = other;
  Operation *op = value.getDefiningOp();
  return op &&
         llvm::TypeSwitch<Operation *, bool>(op)
             .Case([&](stablehlo::IotaOp op) {
               return static_cast<int64_t>(op.getIotaDimension()) == dim;
             })
             .Case([&](stablehlo::ConvertOp op) {
               return countsAlong(op.getOperand(), dim);
             })
             .Case([&](stablehlo::TransposeOp op) {
               return countsAlong(op.getOperand(), op.getPermutation()[dim]);
             })
             .Case([&](stablehlo::ReshapeOp op) {
               int64_t before = dimBeforeReshape(op, dim);
               return before >= 0 && countsAlong(op.getOperand(), before);
             })
             .Case<stablehlo::AddOp, stablehlo::BroadcastInDimOp,
                   stablehlo::ClampOp, stablehlo::ConstantOp, stablehlo::MulOp,
                   stablehlo::SelectOp>(
                 [&](auto op) { return countsBefore(op, dim); })
             .Default([](Operation *) { return false; });
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
  // A dim of size 1 is never sharded.
  if (size <= 1)
    return -1;
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
    if (!getAnalysis<OpKinds>()
             .mayHave<stablehlo::GatherOp, stablehlo::ScatterOp>())
      return markAllAnalysesPreserved();
    getOperation()->walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<stablehlo::GatherOp, stablehlo::ScatterOp>(
              [](auto found) { makeExplicit(found); });
    });
  }
};

} // namespace

} // namespace shardonnay
