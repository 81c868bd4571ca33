//===- Scatter.cpp - updates at indices that are data ---------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An input dim that the window does not have may be cut: each device subtracts
// the start of its part from the indices, and updates of other parts fall out
// of bounds, where the op ignores them. The updates themselves may be cut if
// they combine in any order: the results are then partial, and the input must
// count once.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Combiner.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/IndexVector.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

//===----------------------------------------------------------------------===//
// Rule
//===----------------------------------------------------------------------===//

namespace {
/// Builds the rule: the updates' dims in their order, then the inserted dims,
/// then the dim of the index vectors. All inputs have one shape, and so have
/// all updates.
class ScatterRule {
public:
  explicit ScatterRule(ScatterOp op)
      : op(op), numbers(op.getScatterDimensionNumbers()),
        input(shapeOf(op.getInputs().front())),
        indices(shapeOf(op.getScatterIndices())),
        updates(shapeOf(op.getUpdates().front())),
        builder(operandRanks(), SmallVector<int64_t>(count(), input.size())) {}

  FactorRule build();

private:
  size_t count() { return op.getInputs().size(); }
  SmallVector<int64_t> perOperand(int64_t ofInput, int64_t ofIndices,
                                  int64_t ofUpdate) {
    SmallVector<int64_t> values(count(), ofInput);
    values.push_back(ofIndices);
    values.append(count(), ofUpdate);
    return values;
  }
  SmallVector<int64_t> operandRanks() {
    return perOperand(input.size(), indices.size(), updates.size());
  }
  /// A factor at these dims (-1: none); the results are like the inputs.
  void add(int64_t size, int64_t inputDim, int64_t indicesDim,
           int64_t updateDim, FactorKind kind = FactorKind::PassThrough,
           ReductionKind combiner = ReductionKind::Sum) {
    builder.add(size, perOperand(inputDim, indicesDim, updateDim),
                SmallVector<int64_t>(count(), inputDim), kind, combiner);
  }
  void addWindowDim(int64_t inputDim, int64_t updateDim);
  void addBatchDim(int64_t indicesDim, int64_t updateDim);

  ScatterOp op;
  ScatterDimensionNumbersAttr numbers;
  ArrayRef<int64_t> input, indices, updates;
  FactorRuleBuilder builder;
};
} // namespace

void ScatterRule::addWindowDim(int64_t inputDim, int64_t updateDim) {
  if (input[inputDim] == updates[updateDim])
    return add(input[inputDim], inputDim, -1, updateDim);
  add(input[inputDim], inputDim, -1, -1, FactorKind::NeedReplication);
  add(updates[updateDim], -1, -1, updateDim, FactorKind::NeedReplication);
}

void ScatterRule::addBatchDim(int64_t indicesDim, int64_t updateDim) {
  int64_t size = updates[updateDim];
  int64_t place =
      positionIn(numbers.getScatterIndicesBatchingDims(), indicesDim);
  if (place >= 0)
    return add(size, numbers.getInputBatchingDims()[place], indicesDim,
               updateDim);
  std::optional<ReductionKind> combiner;
  if (count() == 1)
    combiner = combinerOf(op.getUpdateComputation());
  add(size, -1, indicesDim, updateDim,
      combiner ? FactorKind::Reduction : FactorKind::NeedReplication,
      combiner.value_or(ReductionKind::Sum));
}

FactorRule ScatterRule::build() {
  int64_t vectorDim = numbers.getIndexVectorDim();
  int64_t inputDim = 0, indicesDim = 0;
  auto inWindow = [&](int64_t dim) {
    return !llvm::is_contained(numbers.getInsertedWindowDims(), dim) &&
           !llvm::is_contained(numbers.getInputBatchingDims(), dim);
  };
  for (int64_t dim = 0; dim < static_cast<int64_t>(updates.size()); ++dim) {
    if (llvm::is_contained(numbers.getUpdateWindowDims(), dim)) {
      while (!inWindow(inputDim))
        ++inputDim;
      addWindowDim(inputDim++, dim);
    } else {
      if (indicesDim == vectorDim)
        ++indicesDim;
      addBatchDim(indicesDim++, dim);
    }
  }
  for (int64_t dim : numbers.getInsertedWindowDims())
    add(input[dim], dim, -1, -1, FactorKind::Indexed);
  if (vectorDim < static_cast<int64_t>(indices.size()))
    add(indices[vectorDim], -1, vectorDim, -1, FactorKind::NeedReplication);
  return builder.build();
}

static std::optional<FactorRule> scatterRule(ScatterOp op) {
  return ScatterRule(op).build();
}

//===----------------------------------------------------------------------===//
// Local computation
//===----------------------------------------------------------------------===//

/// The inserted dims that are cut.
static SmallVector<CutDim> cutDims(ScatterOp op, Value localInput,
                                   LocalContext &context) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  SmallVector<CutDim> cut;
  for (int64_t dim : numbers.getInsertedWindowDims()) {
    AxisList axes = axesOfDim(context, context.rule().operands[0], dim);
    if (!axes.empty())
      cut.push_back({shapeOf(op.getInputs().front())[dim],
                     shapeOf(localInput)[dim], axes,
                     positionIn(numbers.getScatterDimsToOperandDims(), dim)});
  }
  return cut;
}

/// The indices, relative to this device's part.
static Value localIndices(ScatterOp op, OpBuilder &builder, Value indices,
                          ArrayRef<CutDim> cut, LocalContext &context) {
  LocalMath math(builder, op.getLoc());
  IndexVector vector(builder, op.getLoc(), indices,
                     op.getScatterDimensionNumbers().getIndexVectorDim(), cut);
  for (const CutDim &dim : cut) {
    if (dim.component < 0)
      continue;
    Value index = vector.component(dim.component);
    Value start =
        math.shardStart(context, dim.axes, dim.localSize, vector.elementType());
    start = math.broadcast(start, cast<RankedTensorType>(index.getType()));
    vector.setComponent(dim.component, math.subtract(index, start));
  }
  return vector.join();
}

static FailureOr<SmallVector<Value>> scatterLocally(ScatterOp op,
                                                    OpBuilder &builder,
                                                    ValueRange operands,
                                                    LocalContext &context) {
  size_t count = op.getInputs().size();
  SmallVector<Value> local(operands);
  LocalMath math(builder, op.getLoc());
  AxisList partialAxes = axesOfPartialSums(context);
  if (!partialAxes.empty() && !isKnownZero(local[0]))
    local[0] = math.onlyOnFirst(context, partialAxes, local[0]);
  SmallVector<CutDim> cut = cutDims(op, operands[0], context);
  if (!cut.empty())
    local[count] = localIndices(op, builder, operands[count], cut, context);

  SmallVector<Value> results = cloneLocally(op, builder, local, context);
  // A cut dim that is not indexed is updated at 0: on the first device only.
  for (const CutDim &dim : cut) {
    if (dim.component >= 0)
      continue;
    Value first = math.isFirst(context, dim.axes);
    for (size_t i = 0; i < count; ++i)
      results[i] = math.select(first, results[i], local[i]);
  }
  return results;
}

void shardonnay::attachScatterModels(MLIRContext &context) {
  attachRule<ScatterOp, scatterRule>(context);
  attachLocal<ScatterOp, scatterLocally>(context);
}
