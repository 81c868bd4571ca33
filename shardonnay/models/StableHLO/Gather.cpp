//===- Gather.cpp - windows at indices that are data ----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the window has one element in an operand dim, the dim may be cut: each
// device gathers what lies in its part and fills in zeros for the rest; the sum
// over the devices is the result. Indices are clamped in the whole dim, as the
// op says, before they are mapped to the part.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/IndexVector.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

/// The dims 0 .. rank-1 that are in neither list.
static SmallVector<int64_t> otherDims(int64_t rank, ArrayRef<int64_t> list,
                                      ArrayRef<int64_t> another = {}) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(list, dim) && !llvm::is_contained(another, dim))
      dims.push_back(dim);
  return dims;
}

//===----------------------------------------------------------------------===//
// Rule
//===----------------------------------------------------------------------===//

/// A dim of the window: operand dim `dim` and result dim `resultDim`.
static void addWindowFactors(FactorRuleBuilder &builder, int64_t size,
                             int64_t sliceSize, int64_t dim,
                             int64_t resultDim) {
  if (sliceSize == size) {
    builder.add(size, {dim, -1}, {resultDim});
  } else if (sliceSize == 1) {
    builder.add(size, {dim, -1}, {-1}, FactorKind::Indexed);
    builder.add(1, {-1, -1}, {resultDim}, FactorKind::NeedReplication);
  } else {
    builder.add(size, {dim, -1}, {resultDim}, FactorKind::NeedReplication,
                ReductionKind::Sum, /*blocked=*/true);
  }
}

/// The result's dims in their order, then the collapsed dims, then the dim of
/// the index vectors.
static std::optional<FactorRule> gatherRule(GatherOp op) {
  GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  ArrayRef<int64_t> operand = shapeOf(op.getOperand());
  ArrayRef<int64_t> indices = shapeOf(op.getStartIndices());
  ArrayRef<int64_t> result = shapeOf(op.getResult());
  int64_t operandRank = operand.size(), indicesRank = indices.size();
  int64_t resultRank = result.size(), vectorDim = numbers.getIndexVectorDim();
  SmallVector<int64_t> windowDims =
      otherDims(operandRank, numbers.getCollapsedSliceDims(),
                numbers.getOperandBatchingDims());
  SmallVector<int64_t> batchDims = otherDims(indicesRank, {vectorDim});

  FactorRuleBuilder builder({operandRank, indicesRank}, {resultRank});
  const int64_t *window = windowDims.begin(), *batch = batchDims.begin();
  for (int64_t dim = 0; dim < resultRank; ++dim) {
    if (llvm::is_contained(numbers.getOffsetDims(), dim)) {
      int64_t source = *window++;
      addWindowFactors(builder, operand[source], op.getSliceSizes()[source],
                       source, dim);
      continue;
    }
    int64_t place = positionIn(numbers.getStartIndicesBatchingDims(), *batch);
    int64_t source = place < 0 ? -1 : numbers.getOperandBatchingDims()[place];
    builder.add(result[dim], {source, *batch++}, {dim});
  }
  for (int64_t dim : numbers.getCollapsedSliceDims())
    builder.add(operand[dim], {dim, -1}, {-1},
                operand[dim] == 1 ? FactorKind::NeedReplication
                                  : FactorKind::Indexed);
  if (vectorDim < indicesRank)
    builder.add(indices[vectorDim], {-1, vectorDim}, {-1},
                FactorKind::NeedReplication);
  return builder.build();
}

//===----------------------------------------------------------------------===//
// Local computation
//===----------------------------------------------------------------------===//

/// The operand dims that are cut and of which the window has one element.
static SmallVector<CutDim> cutDims(GatherOp op, Value localOperand,
                                   LocalContext &context) {
  GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<CutDim> cut;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getOperand()))) {
    AxisList axes = axesOfDim(context, context.rule().operands[0], dim);
    if (axes.empty() || op.getSliceSizes()[dim] == size ||
        llvm::is_contained(numbers.getOperandBatchingDims(), dim))
      continue;
    cut.push_back({size, shapeOf(localOperand)[dim], axes,
                   positionIn(numbers.getStartIndexMap(), dim)});
  }
  return cut;
}

/// Maps the components of `vector` that index cut dims to this device's part;
/// returns which vectors point into it, in the batch dims' shape.
static Value localiseIndices(LocalMath &math, LocalContext &context,
                             ArrayRef<CutDim> cut, IndexVector &vector,
                             RankedTensorType maskType) {
  Value mask;
  for (const CutDim &dim : cut) {
    Value inside;
    if (dim.component < 0) {
      inside = math.broadcast(math.isFirst(context, dim.axes), maskType);
    } else {
      Value index =
          math.clamp(vector.component(dim.component), 0, dim.globalSize - 1);
      Value start = math.shardStart(context, dim.axes, dim.localSize,
                                    vector.elementType());
      index = math.subtract(index, math.broadcast(start, cast<RankedTensorType>(
                                                             index.getType())));
      vector.setComponent(dim.component, index);
      inside = math.reshape(math.inRange(index, 0, dim.localSize),
                            maskType.getShape());
    }
    mask = mask ? math.both(mask, inside) : inside;
  }
  return mask;
}

static FailureOr<SmallVector<Value>> gatherLocally(GatherOp op,
                                                   OpBuilder &builder,
                                                   ValueRange operands,
                                                   LocalContext &context) {
  GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<int64_t> sliceSizes(op.getSliceSizes());
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getOperand())))
    if (sliceSizes[dim] == size)
      sliceSizes[dim] = shapeOf(operands[0])[dim];

  SmallVector<CutDim> cut = cutDims(op, operands[0], context);
  LocalMath math(builder, op.getLoc());
  SmallVector<Value> local(operands);
  Value mask;
  if (!cut.empty()) {
    IndexVector vector(builder, op.getLoc(), local[1],
                       numbers.getIndexVectorDim(), cut);
    auto maskType =
        RankedTensorType::get(vector.batchShape(), builder.getI1Type());
    mask = localiseIndices(math, context, cut, vector, maskType);
    local[1] = vector.join();
  }

  Value result = cloneLocally(op, builder, local, context)[0];
  auto gather = result.getDefiningOp<GatherOp>();
  gather.setSliceSizes(sliceSizes);
  if (!mask)
    return SmallVector<Value>{result};
  // Clamping one component may break the order of the vectors.
  gather.setIndicesAreSorted(false);
  auto type = cast<RankedTensorType>(result.getType());
  mask = math.broadcast(mask, type.clone(builder.getI1Type()),
                        otherDims(type.getRank(), numbers.getOffsetDims()));
  return SmallVector<Value>{math.select(mask, result, math.sumIdentity(type))};
}

void shardonnay::attachGatherModels(MLIRContext &context) {
  attachRule<GatherOp, gatherRule>(context);
  attachLocal<GatherOp, gatherLocally>(context);
}
