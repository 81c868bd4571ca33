//===- AdaptToTarget.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/AdaptToTarget.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace shardonnay {

namespace {

/// The op that is the whole body; null if there is none.
Operation *getCombiner(stablehlo::AllReduceOp op) {
  Block &body = op.getComputation().front();
  Operation *combiner = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2 ||
      combiner->getNumResults() != 1 || combiner->getNumRegions() != 0)
    return nullptr;
  Value lhs = body.getArgument(0), rhs = body.getArgument(1);
  Value first = combiner->getOperand(0), second = combiner->getOperand(1);
  bool isIt =
      (first == lhs && second == rhs) || (first == rhs && second == lhs);
  return isIt ? combiner : nullptr;
}

void buildBody(Region &region, Operation *combiner) {
  OpBuilder builder(region.getContext());
  Location loc = combiner->getLoc();
  Type type = combiner->getResult(0).getType();
  Block *block = builder.createBlock(&region, {}, {type, type}, {loc, loc});
  IRMapping mapping;
  mapping.map(combiner->getOperand(0), block->getArgument(0));
  mapping.map(combiner->getOperand(1), block->getArgument(1));
  Operation *made = builder.clone(*combiner, mapping);
  stablehlo::ReturnOp::create(builder, loc, made->getResults());
}

/// What does not count; null if `combiner` is not bitwise.
DenseElementsAttr getBitwiseNeutral(Operation *combiner) {
  auto type = cast<RankedTensorType>(combiner->getResult(0).getType());
  auto element = dyn_cast<IntegerType>(type.getElementType());
  if (!element)
    return nullptr;
  unsigned width = element.getWidth();
  if (isa<stablehlo::AndOp>(combiner))
    return width == 1 ? nullptr
                      : DenseElementsAttr::get(type, APInt::getAllOnes(width));
  if (isa<stablehlo::XorOp>(combiner) ||
      (isa<stablehlo::OrOp>(combiner) && width > 1))
    return DenseElementsAttr::get(type, APInt::getZero(width));
  return nullptr;
}

/// How many devices each group has; nothing if they differ, or the mesh knows.
std::optional<int64_t> getGroupSize(stablehlo::AllReduceOp op) {
  auto groups = dyn_cast<DenseIntElementsAttr>(op.getReplicaGroups());
  if (!groups || groups.empty() || groups.getType().getRank() != 2 ||
      llvm::any_of(groups.getValues<APInt>(),
                   [](const APInt &id) { return id.isNegative(); }))
    return std::nullopt;
  return groups.getType().getDimSize(1);
}

Value gatherAndReduce(OpBuilder &builder, stablehlo::AllReduceOp op,
                      Operation *combiner, DenseElementsAttr neutral,
                      int64_t groupSize) {
  Location loc = op.getLoc();
  Value operand = op.getOperands().front();
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  Value row =
      stablehlo::ReshapeOp::create(builder, loc, type.clone(shape), operand);
  shape.front() = groupSize;
  Value rows = stablehlo::AllGatherOp::create(
                   builder, loc, TypeRange(type.clone(shape)), row,
                   /*all_gather_dim=*/0, op.getReplicaGroups(),
                   op.getChannelHandleAttr(), op.getUseGlobalDeviceIds())
                   ->getResult(0);
  Value start = stablehlo::ConstantOp::create(builder, loc, neutral);
  auto reduce = stablehlo::ReduceOp::create(builder, loc, TypeRange(type), rows,
                                            start, ArrayRef<int64_t>{0});
  buildBody(reduce.getBody(), combiner);
  return reduce->getResult(0);
}

} // namespace

void adaptToTarget(stablehlo::AllReduceOp op, const Target &target) {
  OpBuilder builder(op);
  if (op.getNumOperands() > 1 && !target.reducesSeveral) {
    for (auto [operand, result] :
         llvm::zip_equal(op.getOperands(), op.getResults())) {
      auto one = stablehlo::AllReduceOp::create(
          builder, op.getLoc(), operand.getType(), operand,
          op.getReplicaGroups(), op.getChannelHandleAttr(),
          op.getUseGlobalDeviceIds());
      IRMapping mapping;
      op.getComputation().cloneInto(&one.getComputation(), mapping);
      result.replaceAllUsesWith(one->getResult(0));
      adaptToTarget(one, target);
    }
    op.erase();
    return;
  }
  if (op.getNumOperands() != 1 || target.reducesBitwise)
    return;
  Operation *combiner = getCombiner(op);
  DenseElementsAttr neutral = combiner ? getBitwiseNeutral(combiner) : nullptr;
  std::optional<int64_t> groupSize = getGroupSize(op);
  if (!neutral || !groupSize)
    return;
  Value value = gatherAndReduce(builder, op, combiner, neutral, *groupSize);
  op.getResult(0).replaceAllUsesWith(value);
  op.erase();
}

void adaptToTarget(stablehlo::FftOp op, const Target &target) {
  int64_t rank = op.getType().getRank();
  if (target.transformsAnyLayout || rank < 2)
    return;
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  auto rowMajor = llvm::to_vector(llvm::reverse(llvm::seq(rank)));
  ArrayAttr layouts =
      builder.getArrayAttr({builder.getIndexTensorAttr(rowMajor)});
  auto held = stablehlo::CustomCallOp::create(
      builder, op.getLoc(), op->getResultTypes(), op->getResults(),
      {builder.getNamedAttr("call_target_name",
                            builder.getStringAttr("LayoutConstraint")),
       builder.getNamedAttr("operand_layouts", layouts),
       builder.getNamedAttr("result_layouts", layouts)});
  op.getResult().replaceAllUsesExcept(held->getResult(0), held);
}

void adaptToTarget(stablehlo::SortOp op, const Target &target) {
  int64_t dim = op.getDimension();
  if (!target.countsDimsFromBack && dim < 0)
    op.setDimension(dim +
                    cast<ShapedType>(op->getOperand(0).getType()).getRank());
}

} // namespace shardonnay
