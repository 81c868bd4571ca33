//===- Tensor.cpp - where elements come from ------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "shardonnay/models/StableHLO/Reshape.h"
#include "shardonnay/models/Upstream/Attach.h"
#include "shardonnay/models/Upstream/Families.h"
#include "shardonnay/models/Upstream/LocalArith.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !isa<ShapedType>(type) || (tensor && tensor.hasStaticShape());
}

static bool isStatic(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), isStaticTensor) &&
         llvm::all_of(op->getResultTypes(), isStaticTensor);
}

namespace {
/// Each of the dims has a factor that only it has.
class OwnFactors {
public:
  explicit OwnFactors(Operation *op)
      : numOperands(op->getNumOperands()),
        builder(ranksOf(op->getOperandTypes()), ranksOf(op->getResultTypes())) {
  }
  /// Adds a factor of a dim of the operand or result `tensor`, counted through.
  void add(int64_t tensor, int64_t dim, int64_t size, FactorKind kind) {
    SmallVector<int64_t> operands(numOperands, -1), results(1, -1);
    (tensor < numOperands ? operands[tensor] : results[0]) = dim;
    builder.add(size, operands, results, kind);
  }

  int64_t numOperands;
  FactorRuleBuilder builder;
};

//===----------------------------------------------------------------------===//
// All of it on every device
//===----------------------------------------------------------------------===//

/// Single elements.
struct WholeHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    if (!isStatic(op) || op->getNumResults() != 1)
      return std::nullopt;
    OwnFactors factors(op);
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (auto [number, type] : llvm::enumerate(types))
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        for (auto [dim, size] : llvm::enumerate(tensor.getShape()))
          factors.add(number, dim, size, FactorKind::NeedReplication);
    return factors.builder.build();
  }
};

//===----------------------------------------------------------------------===//
// Each element for itself
//===----------------------------------------------------------------------===//

/// cast, splat, empty (nothing says what its elements are).
struct EachHooks : NestHooks<EachHooks> {
  static LoopNest nest(Operation *op) { return elementwiseNest(op); }
  static PropagationClass propagationClass(Operation *) {
    return PropagationClass::PassThrough;
  }
  static bool isLinear(Operation *op, ReductionKind,
                       const llvm::SmallBitVector &partial) {
    return isa<tensor::CastOp>(op) && partial.all();
  }
};

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

struct ReshapeHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    if (!isStatic(op))
      return std::nullopt;
    ArrayRef<int64_t> from = shapeOf(op->getOperand(0));
    ArrayRef<int64_t> to = shapeOf(op->getResult(0));
    if (llvm::is_contained(from, 0))
      return std::nullopt;
    return reshapeRule(from, to);
  }
  static PropagationClass propagationClass(Operation *) {
    return PropagationClass::PassThrough;
  }
  static bool isLinear(Operation *, ReductionKind,
                       const llvm::SmallBitVector &partial) {
    return partial.all();
  }
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
    Location loc = op->getLoc();
    auto reshape = [&](RankedTensorType type, Value operand) -> Value {
      if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
        return tensor::ExpandShapeOp::create(builder, loc, type, operand,
                                             expand.getReassociationIndices());
      return tensor::CollapseShapeOp::create(
          builder, loc, type, operand,
          cast<tensor::CollapseShapeOp>(op).getReassociationIndices());
    };
    return SmallVector<Value>{
        reshapeInRows(builder, loc, operands[0], context, reshape)};
  }
};

/// tensor.reshape, whose second operand says what the result's type does.
struct NamedShapeHooks : ReshapeHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    std::optional<FactorRule> rule = ReshapeHooks::rule(op);
    if (!rule)
      return rule;
    Factor whole;
    whole.kind = FactorKind::NeedReplication;
    whole.size = shapeOf(op->getOperand(1))[0];
    rule->operands.emplace_back().dims.push_back(
        DimFactors{static_cast<int32_t>(rule->factors.size())});
    rule->factors.push_back(whole);
    for (FactorWindow &window : rule->windows)
      window.tensor += window.tensor == 1;
    return rule;
  }
  static bool isLinear(Operation *, ReductionKind,
                       const llvm::SmallBitVector &partial) {
    return partial[0] && !partial[1];
  }
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
    Location loc = op->getLoc();
    auto reshape = [&](RankedTensorType type, Value operand) -> Value {
      Value shape = arith::ConstantOp::create(
          builder, loc, builder.getIndexTensorAttr(type.getShape()));
      return tensor::ReshapeOp::create(builder, loc, type, operand, shape);
    };
    return SmallVector<Value>{
        reshapeInRows(builder, loc, operands[0], context, reshape)};
  }
};

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// All of the dim, in its order.
static bool isWhole(OffsetSizeAndStrideOpInterface op, int64_t dim,
                    int64_t size) {
  return op.getStaticOffsets()[dim] == 0 && op.getStaticSizes()[dim] == size &&
         op.getStaticStrides()[dim] == 1;
}

/// The offsets, sizes and strides of a slice whose local operands are
/// `operands`: of dims that are taken whole, the local sizes.
struct LocalSlice {
  LocalSlice(OffsetSizeAndStrideOpInterface op, ValueRange operands,
             ArrayRef<int64_t> global, ArrayRef<int64_t> local)
      : builder(op.getContext()),
        dynamic(
            operands.drop_front(op.getOffsetSizeAndStrideStartOperandIndex())) {
    offsets = take(op.getStaticOffsets());
    sizes = take(op.getStaticSizes());
    strides = take(op.getStaticStrides());
    for (auto [dim, size] : llvm::enumerate(global))
      if (isWhole(op, dim, size))
        sizes[dim] = builder.getIndexAttr(local[dim]);
  }
  SmallVector<OpFoldResult> offsets, sizes, strides;

private:
  /// The numbers, those that are not known being the next operands.
  SmallVector<OpFoldResult> take(ArrayRef<int64_t> numbers) {
    SmallVector<OpFoldResult> taken;
    for (int64_t number : numbers) {
      bool isKnown = !ShapedType::isDynamic(number);
      taken.push_back(isKnown ? OpFoldResult(builder.getIndexAttr(number))
                              : OpFoldResult(dynamic.front()));
      dynamic = dynamic.drop_front(isKnown ? 0 : 1);
    }
    return taken;
  }

  Builder builder;
  ValueRange dynamic;
};

/// Where the slice begins in `dim` and how far its elements stand apart are
/// known: each device fetches what it holds of it.
static bool isWindow(OffsetSizeAndStrideOpInterface op, int64_t dim) {
  return !op.isDynamicOffset(dim) && !op.isDynamicSize(dim) &&
         !op.isDynamicStride(dim) && op.getStaticStride(dim) > 0;
}

/// Dims that are taken whole pass, others move windows; of a dim that is
/// dropped, or that begins anywhere, every device needs all.
struct ExtractSliceHooks : WindowedHooks {
  static FactorKind kindOf(tensor::ExtractSliceOp op, int64_t dim,
                           bool isDropped) {
    if (isWhole(op, dim, shapeOf(op.getSource())[dim]))
      return FactorKind::PassThrough;
    return !isDropped && isWindow(op, dim) ? FactorKind::Windowed
                                           : FactorKind::NeedReplication;
  }
  static std::optional<FactorRule> rule(Operation *op) {
    if (!isStatic(op))
      return std::nullopt;
    auto slice = cast<tensor::ExtractSliceOp>(op);
    ArrayRef<int64_t> from = shapeOf(slice.getSource());
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<int64_t> operandDims(op->getNumOperands(), -1);
    FactorRuleBuilder builder(ranksOf(op->getOperandTypes()),
                              ranksOf(op->getResultTypes()));
    int64_t next = 0;
    for (auto [dim, size] : llvm::enumerate(from)) {
      operandDims[0] = dim;
      FactorWindow window;
      FactorKind kind = kindOf(slice, dim, dropped[dim]);
      window.factor =
          builder.add(size, operandDims, {dropped[dim] ? -1 : next++}, kind);
      if (kind != FactorKind::Windowed)
        continue;
      window.size = size;
      window.count = slice.getStaticSize(dim);
      window.stride = slice.getStaticStride(dim);
      window.low = -slice.getStaticOffset(dim);
      builder.addWindow(window);
    }
    return builder.build();
  }
  static bool isLinear(Operation *, ReductionKind,
                       const llvm::SmallBitVector &partial) {
    return partial[0];
  }
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
    auto slice = cast<tensor::ExtractSliceOp>(op);
    LocalSlice at(slice, operands, shapeOf(slice.getSource()),
                  shapeOf(operands[0]));
    auto type = cast<RankedTensorType>(context.resultTypes()[0]);
    Value source = operands[0];
    for (const FactorWindow &window : context.shardWindows()) {
      int64_t dim = context.rule().operands[0].dimOf(window.factor);
      int64_t result = context.rule().results[0].dimOf(window.factor);
      source = context.fetchWindow(builder, op->getLoc(), source, window,
                                   /*fill=*/Value());
      at.offsets[dim] = builder.getIndexAttr(0);
      at.sizes[dim] = builder.getIndexAttr(type.getDimSize(result));
    }
    Value local = tensor::ExtractSliceOp::create(
        builder, op->getLoc(), type, source, at.offsets, at.sizes, at.strides);
    return SmallVector<Value>{local};
  }
};

/// Where a dim of the destination is covered only in part, every device needs
/// all of it.
struct InsertSliceHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    if (!isStatic(op))
      return std::nullopt;
    auto slice = cast<tensor::InsertSliceOp>(op);
    ArrayRef<int64_t> to = shapeOf(slice.getDest());
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    FactorRuleBuilder builder(ranksOf(op->getOperandTypes()),
                              ranksOf(op->getResultTypes()));
    SmallVector<int64_t> none(op->getNumOperands(), -1);
    int64_t next = 0;
    for (auto [index, size] : llvm::enumerate(to)) {
      int64_t dim = index, sourceDim = dropped[dim] ? -1 : next++;
      bool whole = isWhole(slice, dim, size);
      SmallVector<int64_t> inSource = none, inDest = none;
      inSource[0] = sourceDim;
      inDest[1] = dim;
      if (whole)
        inDest[0] = sourceDim;
      else if (sourceDim >= 0)
        builder.add(
            shapeOf(slice.getSource()) [sourceDim], inSource, { -1 },
            FactorKind::NeedReplication);
      builder.add(size, inDest, {dim},
                  whole ? FactorKind::PassThrough
                        : FactorKind::NeedReplication);
    }
    return builder.build();
  }
  static bool isLinear(Operation *, ReductionKind,
                       const llvm::SmallBitVector &partial) {
    return partial[0] && partial[1];
  }
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
    auto slice = cast<tensor::InsertSliceOp>(op);
    LocalSlice at(slice, operands, shapeOf(slice.getDest()),
                  shapeOf(operands[1]));
    Value local = tensor::InsertSliceOp::create(
        builder, op->getLoc(), operands[0], operands[1], at.offsets, at.sizes,
        at.strides);
    return SmallVector<Value>{local};
  }
};

/// A dim that is padded by a constant moves a window; else it is needed whole.
struct PadHooks : WindowedHooks {
  static bool pads(tensor::PadOp op, int64_t dim) {
    return op.getStaticLow()[dim] != 0 || op.getStaticHigh()[dim] != 0;
  }
  /// What is padded with, as a tensor that a window can be filled with: of what
  /// the padding's position says, nothing.
  static Value fillOf(tensor::PadOp op, OpBuilder &builder) {
    auto scalar =
        RankedTensorType::get({}, op.getResultType().getElementType());
    Value value = op.getConstantPaddingValue();
    TypedAttr constant;
    if (matchPattern(value, m_Constant(&constant)))
      return arith::ConstantOp::create(
          builder, op.getLoc(),
          DenseElementsAttr::get(scalar, Attribute(constant)));
    return tensor::FromElementsOp::create(builder, op.getLoc(), scalar, value);
  }
  static FactorKind kindOf(tensor::PadOp op, int64_t dim) {
    if (!pads(op, dim))
      return FactorKind::PassThrough;
    bool isWindow = !ShapedType::isDynamic(op.getStaticLow()[dim]) &&
                    !ShapedType::isDynamic(op.getStaticHigh()[dim]) &&
                    op.getConstantPaddingValue();
    return isWindow ? FactorKind::Windowed : FactorKind::NeedReplication;
  }
  static std::optional<FactorRule> rule(Operation *op) {
    if (!isStatic(op))
      return std::nullopt;
    auto pad = cast<tensor::PadOp>(op);
    FactorRuleBuilder builder(ranksOf(op->getOperandTypes()),
                              ranksOf(op->getResultTypes()));
    SmallVector<int64_t> operandDims(op->getNumOperands(), -1);
    for (auto [index, size] : llvm::enumerate(shapeOf(pad.getSource()))) {
      int64_t dim = operandDims[0] = index;
      FactorWindow window;
      FactorKind kind = kindOf(pad, dim);
      window.factor = builder.add(size, operandDims, {dim}, kind);
      if (kind != FactorKind::Windowed)
        continue;
      window.size = size;
      window.count = shapeOf(pad.getResult())[dim];
      window.low = pad.getStaticLow()[dim];
      builder.addWindow(window);
    }
    return builder.build();
  }
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
    auto pad = cast<tensor::PadOp>(op);
    SmallVector<Value> values(operands);
    SmallVector<int64_t> low(pad.getStaticLow()), high(pad.getStaticHigh());
    for (const FactorWindow &window : context.shardWindows()) {
      int64_t dim = context.rule().operands[0].dimOf(window.factor);
      values[0] = context.fetchWindow(builder, op->getLoc(), values[0], window,
                                      fillOf(pad, builder));
      low[dim] = high[dim] = 0;
    }
    SmallVector<Value> results = cloneLocally(op, builder, values, context);
    auto local = results[0].getDefiningOp<tensor::PadOp>();
    local.setStaticLow(low);
    local.setStaticHigh(high);
    LocalArith(builder, op->getLoc()).shiftPositions(context, local);
    return results;
  }
};

struct ConcatHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    return ruleOfJoined(op, cast<tensor::ConcatOp>(op).getDim());
  }
  static bool isLinear(Operation *, ReductionKind,
                       const llvm::SmallBitVector &partial) {
    return partial.all();
  }
};
} // namespace

void shardonnay::upstream::attachTensorModels(MLIRContext &context) {
  attach<WholeHooks, tensor::ExtractOp, tensor::FromElementsOp,
         tensor::InsertOp>(context);
  attach<EachHooks, tensor::CastOp, tensor::EmptyOp, tensor::SplatOp>(context);
  attach<ReshapeHooks, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(context);
  attach<NamedShapeHooks, tensor::ReshapeOp>(context);
  attach<ExtractSliceHooks, tensor::ExtractSliceOp>(context);
  attach<InsertSliceHooks, tensor::InsertSliceOp>(context);
  attach<PadHooks, tensor::PadOp>(context);
  attach<ConcatHooks, tensor::ConcatOp>(context);
  attachConstantExpression<tensor::CastOp, tensor::EmptyOp, tensor::SplatOp,
                           tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
      context);
}
