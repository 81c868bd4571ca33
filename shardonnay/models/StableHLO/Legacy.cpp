//===- Legacy.cpp - older forms of other ops ------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

static int64_t rankOf(Value value) { return shapeOf(value).size(); }

static std::optional<FactorRule> broadcastRule(BroadcastOp op) {
  int64_t rank = rankOf(op.getOperand());
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  int64_t added = shape.size() - rank;
  FactorRuleBuilder builder({rank}, {rank + added});
  for (int64_t dim = 0; dim < rank + added; ++dim)
    builder.add(shape[dim], {dim < added ? -1 : dim - added}, {dim});
  return builder.build();
}

/// A factor for each letter of `ab,bc->ac`; one that the result has not is
/// summed over. Nothing of what is no such formula for the operands' shapes.
static std::optional<FactorRule> einsumRule(Operation *op, StringRef config) {
  auto [left, output] = config.split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != op->getNumOperands())
    return std::nullopt;
  terms.push_back(output);
  SmallVector<Value> tensors(op->getOperands());
  tensors.push_back(op->getResult(0));
  SmallVector<int64_t> ranks;
  SmallVector<std::pair<char, int64_t>> sizes;
  for (auto [term, tensor] : llvm::zip_equal(terms, tensors)) {
    ArrayRef<int64_t> shape = shapeOf(tensor);
    if (term.size() != shape.size())
      return std::nullopt;
    for (size_t i = 0; i < term.size(); ++i) {
      char letter = term[i];
      auto *known = llvm::find_if(
          sizes, [&](auto entry) { return entry.first == letter; });
      if (!llvm::isAlpha(letter) || term.count(letter) != 1 ||
          (known != sizes.end() && known->second != shape[i]))
        return std::nullopt;
      if (known == sizes.end())
        sizes.push_back({letter, shape[i]});
    }
    ranks.push_back(shape.size());
  }
  FactorRuleBuilder builder(ArrayRef(ranks).drop_back(), ranks.back());
  for (auto [letter, size] : sizes) {
    SmallVector<int64_t> dims;
    for (StringRef term : terms) {
      size_t at = term.find(letter);
      dims.push_back(at == StringRef::npos ? -1 : static_cast<int64_t>(at));
    }
    builder.add(size, ArrayRef(dims).drop_back(), dims.back(),
                dims.back() < 0 ? FactorKind::Reduction
                                : FactorKind::PassThrough);
  }
  return builder.build();
}

static std::optional<FactorRule> binaryEinsumRule(EinsumOp op) {
  return einsumRule(op, op.getEinsumConfig());
}
static std::optional<FactorRule> unaryEinsumRule(UnaryEinsumOp op) {
  return einsumRule(op, op.getEinsumConfig());
}

/// Dims of the operand before `dim`, the indices' dims but for the batch dims,
/// which both have, and the operand's dims after `dim`.
static std::optional<FactorRule> buildIndexSelectRule(TorchIndexSelectOp op,
                                                      FactorKind selected) {
  ArrayRef<int64_t> operand = shapeOf(op.getOperand());
  ArrayRef<int64_t> index = shapeOf(op.getIndex());
  ArrayRef<int64_t> result = shapeOf(op.getResult());
  int64_t rank = operand.size(), indexRank = index.size();
  int64_t dim = op.getDim(), batch = op.getBatchDims();
  dim += dim < 0 ? rank : 0;
  batch += batch < 0 ? indexRank : 0;
  if (batch < 0 || batch > std::min(dim, indexRank) || dim >= rank)
    return std::nullopt;
  SmallVector<int64_t> expected(operand.take_front(dim));
  llvm::append_range(expected, index.drop_front(batch));
  llvm::append_range(expected, operand.drop_front(dim + 1));
  if (result != ArrayRef(expected) ||
      operand.take_front(batch) != index.take_front(batch))
    return std::nullopt;

  FactorRuleBuilder builder({rank, indexRank},
                            {static_cast<int64_t>(result.size())});
  int64_t next = 0;
  for (int64_t i = 0; i < dim; ++i)
    builder.add(operand[i], {i, i < batch ? i : -1}, {next++});
  for (int64_t i = batch; i < indexRank; ++i)
    builder.add(index[i], {-1, i}, {next++});
  for (int64_t i = dim + 1; i < rank; ++i)
    builder.add(operand[i], {i, -1}, {next++});
  builder.add(operand[dim], {dim, -1}, {-1}, selected);
  return builder.build();
}

static std::optional<FactorRule> indexSelectRule(TorchIndexSelectOp op) {
  return buildIndexSelectRule(op, FactorKind::NeedReplication);
}

/// Nothing more if the sum of what devices find is more than a gather of the
/// operand.
static std::optional<FactorRule> pickingRule(TorchIndexSelectOp op) {
  if (2 * op.getType().getNumElements() >
      op.getOperand().getType().getNumElements())
    return std::nullopt;
  return buildIndexSelectRule(op, FactorKind::Indexed);
}

/// Each device selects what is in its part, zeros for the rest. As in a
/// gather, indices are clamped in the whole dim.
static LocalResults indexSelectLocally(TorchIndexSelectOp op,
                                       OpBuilder &builder, ValueRange operands,
                                       LocalContext &context) {
  int64_t rank = rankOf(op.getOperand()), indexRank = rankOf(op.getIndex());
  int64_t dim = op.getDim(), batch = op.getBatchDims();
  dim += dim < 0 ? rank : 0;
  batch += batch < 0 ? indexRank : 0;
  AxisList axes = axesOfDim(context, context.rule().operands[0], dim);
  if (axes.empty())
    return cloneLocally(op, builder, operands, context);
  LocalMath math(builder, op.getLoc());
  int64_t size = shapeOf(op.getOperand())[dim];
  int64_t shard = shapeOf(operands[0])[dim];
  IntegerType integer =
      math.positionType(size, op.getIndex().getType().getElementType());
  Value index = math.clamp(math.positions(operands[1], integer), 0, size - 1);
  index = math.subtract(
      index, math.broadcast(math.shardStart(context, axes, shard, integer),
                            cast<RankedTensorType>(index.getType())));
  Value inside = math.inRange(index, 0, shard);
  Value result = cloneLocally(
      op, builder, {operands[0], math.clamp(index, 0, shard - 1)}, context)[0];
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> dims;
  llvm::append_range(dims, llvm::seq<int64_t>(0, batch));
  llvm::append_range(dims, llvm::seq(dim, dim + indexRank - batch));
  inside = math.broadcast(inside, type.clone(builder.getI1Type()), dims);
  return SmallVector<Value>{
      math.select(inside, result, math.sumIdentity(type))};
}

static LocalResults broadcastLocally(BroadcastOp op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
  Value result = cloneLocally(op, builder, operands, context)[0];
  auto local = result.getDefiningOp<BroadcastOp>();
  local.setBroadcastSizes(
      shapeOf(result).take_front(op.getBroadcastSizes().size()));
  return SmallVector<Value>{result};
}

/// Where elements come from is data (where it is known, the op has another form
/// after import): the op is computed whole.
template <typename... OpTs> static void attachWhole(MLIRContext &context) {
  (attachRule<OpTs, noRule<OpTs>>(context), ...);
  (attachClone<OpTs>(context), ...);
}

void shardonnay::attachLegacyModels(MLIRContext &context) {
  attachRule<BroadcastOp, broadcastRule, PropagationClass::BroadcastBackward>(
      context);
  attachRule<EinsumOp, binaryEinsumRule>(context);
  attachRule<UnaryEinsumOp, unaryEinsumRule>(context);
  attachRule<TorchIndexSelectOp, indexSelectRule>(context);
  attachClone<EinsumOp>(context);
  attachClone<UnaryEinsumOp>(context);
  attachPicking<TorchIndexSelectOp, indexSelectLocally, pickingRule>(context);
  attachLocal<BroadcastOp, broadcastLocally>(context);
  attachWhole<DynamicPadOp, RealDynamicSliceOp, DynamicConvOp>(context);
}
