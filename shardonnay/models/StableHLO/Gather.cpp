//===- Gather.cpp - windows at indices that are data ----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the window has a part of an operand dim, the dim may be sharded: each
// device gathers what is in its part and fills in zeros for the rest; the sum
// over the devices is the result. Indices are clamped in the whole dim, as the
// op says, before they are mapped to the part. Windows of several elements,
// which may begin before the part or end behind it, see zeros there: the part
// is padded by a window's size.
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

/// A dim of the window: operand dim `dim` and result dim `resultDim`. Partial
/// windows are blocked in propagation.
static void addWindowFactors(FactorRuleBuilder &builder, int64_t size,
                             int64_t sliceSize, int64_t dim, int64_t resultDim,
                             bool isPicking) {
  if (sliceSize == size) {
    builder.add(size, {dim, -1}, {resultDim});
  } else if (sliceSize == 1 || isPicking) {
    builder.add(size, {dim, -1}, {-1}, FactorKind::Indexed);
    builder.add(sliceSize, {-1, -1}, {resultDim}, FactorKind::NeedReplication);
  } else {
    builder.add(size, {dim, -1}, {resultDim}, FactorKind::NeedReplication,
                ReductionKind::Sum, /*blocked=*/true);
  }
}

/// The result's dims in their order, then the collapsed dims, then the dim of
/// the index vectors.
static FactorRule buildRule(GatherOp op, bool isPicking) {
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
                       source, dim, isPicking);
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

static std::optional<FactorRule> gatherRule(GatherOp op) {
  return buildRule(op, /*isPicking=*/false);
}

static bool hasPartOf(int64_t sliceSize, int64_t size) {
  return sliceSize > 1 && sliceSize < size;
}

/// Nothing more if all windows have one element, or all, or if their sum over
/// devices is more than a gather of the operand, which crosses each link once.
static std::optional<FactorRule> pickingRule(GatherOp op) {
  if (2 * op.getType().getNumElements() >
      op.getOperand().getType().getNumElements())
    return std::nullopt;
  for (auto [sliceSize, size] :
       llvm::zip_equal(op.getSliceSizes(), shapeOf(op.getOperand())))
    if (hasPartOf(sliceSize, size))
      return buildRule(op, /*isPicking=*/true);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Local computation
//===----------------------------------------------------------------------===//

/// The operand dims that are sharded and of which the window has a part.
static SmallVector<ShardedDim> shardedDims(GatherOp op, Value localOperand,
                                           LocalContext &context) {
  GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<ShardedDim> sharded;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getOperand()))) {
    AxisList axes = axesOfDim(context, context.rule().operands[0], dim);
    if (axes.empty() || op.getSliceSizes()[dim] == size ||
        llvm::is_contained(numbers.getOperandBatchingDims(), dim))
      continue;
    sharded.push_back({size, shapeOf(localOperand)[dim], axes,
                       positionIn(numbers.getStartIndexMap(), dim),
                       op.getSliceSizes()[dim], static_cast<int64_t>(dim)});
  }
  return sharded;
}

/// Maps the components of `vector` that index sharded dims to this device's
/// part (as padded); returns which vectors point into it, in the batch dims'
/// shape, or nothing where all see what they have to.
static Value localiseIndices(LocalMath &math, LocalContext &context,
                             ArrayRef<ShardedDim> sharded, IndexVector &vector,
                             RankedTensorType maskType) {
  Value mask;
  for (const ShardedDim &dim : sharded) {
    int64_t padding = dim.window == 1 ? 0 : dim.window;
    Value inside;
    if (dim.component >= 0) {
      Value index = math.clamp(vector.component(dim.component), 0,
                               dim.globalSize - dim.window);
      Value start = math.shardStart(context, dim.axes, dim.localSize,
                                    vector.elementType());
      start = math.subtract(
          start, math.splat(cast<RankedTensorType>(start.getType()), padding));
      index = math.subtract(index, math.broadcast(start, cast<RankedTensorType>(
                                                             index.getType())));
      vector.setComponent(dim.component, index);
      if (padding == 0)
        inside = math.reshape(math.inRange(index, 0, dim.localSize),
                              maskType.getShape());
    } else if (padding == 0) {
      inside = math.broadcast(math.isFirst(context, dim.axes), maskType);
    }
    if (inside)
      mask = mask ? math.both(mask, inside) : inside;
  }
  return mask;
}

/// The part with zeros around, of dims of which windows have several elements;
/// only what the windows have, where all begin at 0.
static Value padAround(GatherOp op, OpBuilder &builder, LocalContext &context,
                       ArrayRef<ShardedDim> sharded, Value operand,
                       IntegerType integer) {
  LocalMath math(builder, op.getLoc());
  auto scalar = RankedTensorType::get({}, integer);
  auto type = cast<RankedTensorType>(operand.getType());
  Value fill =
      math.sumIdentity(RankedTensorType::get({}, type.getElementType()));
  for (const ShardedDim &dim : sharded) {
    if (dim.window == 1)
      continue;
    SmallVector<int64_t> around(type.getRank(), 0), none(around);
    around[dim.dim] = dim.window;
    operand = PadOp::create(builder, op.getLoc(), operand, fill, around, around,
                            none);
    if (dim.component >= 0)
      continue;
    Value start = math.shardStart(context, dim.axes, dim.localSize, integer);
    SmallVector<Value> starts(type.getRank(), math.splat(scalar, 0));
    starts[dim.dim] =
        math.clamp(math.subtract(math.splat(scalar, dim.window), start), 0,
                   dim.localSize + dim.window);
    SmallVector<int64_t> sizes(shapeOf(operand));
    sizes[dim.dim] = dim.window;
    operand =
        DynamicSliceOp::create(builder, op.getLoc(), operand, starts, sizes);
  }
  return operand;
}

static LocalResults gatherLocally(GatherOp op, OpBuilder &builder,
                                  ValueRange operands, LocalContext &context) {
  GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<int64_t> sliceSizes(op.getSliceSizes());
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getOperand())))
    if (sliceSizes[dim] == size)
      sliceSizes[dim] = shapeOf(operands[0])[dim];

  SmallVector<ShardedDim> sharded = shardedDims(op, operands[0], context);
  LocalMath math(builder, op.getLoc());
  SmallVector<Value> local(operands);
  Value mask;
  if (!sharded.empty()) {
    IndexVector vector(builder, op.getLoc(), local[1],
                       numbers.getIndexVectorDim(), sharded);
    auto maskType =
        RankedTensorType::get(vector.batchShape(), builder.getI1Type());
    mask = localiseIndices(math, context, sharded, vector, maskType);
    local[0] = padAround(op, builder, context, sharded, local[0],
                         vector.elementType());
    local[1] = vector.join();
  }

  Value result = cloneLocally(op, builder, local, context)[0];
  auto gather = result.getDefiningOp<GatherOp>();
  gather.setSliceSizes(sliceSizes);
  // Clamping one component may break the order of the vectors.
  if (!sharded.empty())
    gather.setIndicesAreSorted(false);
  if (!mask)
    return SmallVector<Value>{result};
  auto type = cast<RankedTensorType>(result.getType());
  mask = math.broadcast(mask, type.clone(builder.getI1Type()),
                        otherDims(type.getRank(), numbers.getOffsetDims()));
  return SmallVector<Value>{math.select(mask, result, math.sumIdentity(type))};
}

void shardonnay::attachGatherModels(MLIRContext &context) {
  attachRule<GatherOp, gatherRule>(context);
  attachPicking<GatherOp, gatherLocally, pickingRule>(context);
}
