//===- TosaShape.cpp - where elements come from ---------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "shardonnay/models/StableHLO/Reshape.h"
#include "shardonnay/models/Upstream/Attach.h"
#include "shardonnay/models/Upstream/Families.h"
#include "shardonnay/models/Upstream/LocalArith.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

static Value makeShape(OpBuilder &builder, Location loc,
                       ArrayRef<int64_t> sizes) {
  return tosa::ConstShapeOp::create(
      builder, loc, tosa::shapeType::get(builder.getContext(), sizes.size()),
      builder.getIndexTensorAttr(sizes));
}

/// What an operand of type !tosa.shape holds.
static std::optional<SmallVector<int64_t>> constantShape(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  return llvm::map_to_vector(
      elements.getValues<APInt>(),
      [](const APInt &number) { return number.getSExtValue(); });
}

/// A factor for each dim of the first operand and the result. Operands behind
/// the first have dims of their own (a padding value) or none (a shape).
static std::optional<FactorRule>
dimByDim(Operation *op, llvm::function_ref<FactorKind(int64_t)> kindOf) {
  Value from = op->getOperand(0), to = op->getResult(0);
  if (!isStatic(from) || !isStatic(to))
    return std::nullopt;
  SmallVector<int64_t> ranks;
  for (Value operand : op->getOperands())
    ranks.push_back(isStatic(operand) ? shapeOf(operand).size() : 0);
  FactorRuleBuilder builder(ranks, {static_cast<int64_t>(shapeOf(to).size())});
  SmallVector<int64_t> none(ranks.size(), -1);
  for (auto [index, size] : llvm::enumerate(shapeOf(from))) {
    int64_t dim = index;
    SmallVector<int64_t> dims = none;
    dims[0] = dim;
    builder.add(size, dims, {dim}, kindOf(dim));
  }
  for (size_t i = 1; i < ranks.size(); ++i)
    for (int64_t dim = 0; dim < ranks[i]; ++dim) {
      SmallVector<int64_t> dims = none;
      dims[i] = dim;
      builder.add(
          shapeOf(op->getOperand(i)) [dim], dims, { -1 },
          FactorKind::NeedReplication);
    }
  return builder.build();
}

namespace {
struct TosaMoveHooks : OpHooks {
  static PropagationClass propagationClass(Operation *op) {
    return isa<tosa::ReshapeOp, tosa::TransposeOp>(op)
               ? PropagationClass::PassThrough
               : PropagationClass::Compute;
  }
  static bool isLinear(Operation *op, ReductionKind kind,
                       const llvm::SmallBitVector &partial) {
    bool padsWithValue = isa<tosa::PadOp>(op) && !partial[2];
    return partial[0] && !padsWithValue;
  }
};

struct TosaReshapeHooks : TosaMoveHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    Value from = op->getOperand(0), to = op->getResult(0);
    if (!isStatic(from) || !isStatic(to) || llvm::is_contained(shapeOf(to), 0))
      return std::nullopt;
    FactorRule rule = reshapeRule(shapeOf(from), shapeOf(to));
    rule.operands.emplace_back(); // the shape
    for (FactorWindow &window : rule.windows)
      window.tensor += window.tensor == 1;
    return rule;
  }
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
    Location loc = op->getLoc();
    auto reshape = [&](RankedTensorType type, Value operand) -> Value {
      return tosa::ReshapeOp::create(builder, loc, type, operand,
                                     makeShape(builder, loc, type.getShape()));
    };
    return SmallVector<Value>{
        reshapeInRows(builder, loc, operands[0], context, reshape)};
  }
};

struct TosaTransposeHooks : TosaMoveHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    Value from = op->getOperand(0);
    if (!isStatic(from) || !isStatic(op->getResult(0)))
      return std::nullopt;
    ArrayRef<int64_t> shape = shapeOf(from);
    int64_t rank = shape.size();
    FactorRuleBuilder builder({rank}, {rank});
    for (auto [dim, source] :
         llvm::enumerate(cast<tosa::TransposeOp>(op).getPerms()))
      builder.add(shape[source], {source}, {static_cast<int64_t>(dim)});
    return builder.build();
  }
};

struct TosaConcatHooks : TosaMoveHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    return ruleOfJoined(op, cast<tosa::ConcatOp>(op).getAxis());
  }
  static bool isLinear(Operation *, ReductionKind,
                       const llvm::SmallBitVector &partial) {
    return partial.all();
  }
};

struct TosaReverseHooks : TosaMoveHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    return dimByDim(op, [&](int64_t dim) {
      return dim != cast<tosa::ReverseOp>(op).getAxis()
                 ? FactorKind::PassThrough
                 : FactorKind::NeedReplication;
    });
  }
};

/// Dims that keep their size are kept whole.
struct TosaTileHooks : TosaMoveHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    return dimByDim(op, [&](int64_t dim) {
      return shapeOf(op->getOperand(0))[dim] == shapeOf(op->getResult(0))[dim]
                 ? FactorKind::PassThrough
                 : FactorKind::NeedReplication;
    });
  }
};

/// Dims that are not taken whole, or padded, move windows.
struct TosaWindowHooks : TosaMoveHooks {
  static std::optional<FactorRule> rule(Operation *op);
  static bool mayShard(Operation *, const FactorRule &rule, int32_t factor) {
    return rule.factors[factor].kind == FactorKind::Windowed;
  }
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context);

private:
  /// The first position of each dim that the result has: negative where a pad
  /// begins.
  static std::optional<SmallVector<int64_t>> startsOf(Operation *op) {
    auto numbers = constantShape(op->getOperand(1));
    if (!numbers || isa<tosa::SliceOp>(op))
      return numbers;
    SmallVector<int64_t> starts;
    for (size_t i = 0; i < numbers->size(); i += 2)
      starts.push_back(-(*numbers)[i]);
    return starts;
  }
};
} // namespace

std::optional<FactorRule> TosaWindowHooks::rule(Operation *op) {
  auto starts = startsOf(op);
  auto keeps = [&](int64_t dim) {
    return shapeOf(op->getOperand(0))[dim] == shapeOf(op->getResult(0))[dim];
  };
  std::optional<FactorRule> rule = dimByDim(op, [&](int64_t dim) {
    return keeps(dim) ? FactorKind::PassThrough
           : starts   ? FactorKind::Windowed
                      : FactorKind::NeedReplication;
  });
  for (size_t dim = 0; rule && starts && dim < starts->size(); ++dim) {
    if (keeps(dim))
      continue;
    FactorWindow window;
    window.factor = rule->operands[0].dims[dim].front();
    window.size = shapeOf(op->getOperand(0))[dim];
    window.count = shapeOf(op->getResult(0))[dim];
    window.low = -(*starts)[dim];
    rule->windows.push_back(window);
  }
  return rule;
}

/// The windows of dims that are sharded, then the op on the others.
LocalResults TosaWindowHooks::computeLocally(Operation *op, OpBuilder &builder,
                                             ValueRange operands,
                                             LocalContext &context) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(context.resultTypes()[0]);
  bool isSlice = isa<tosa::SliceOp>(op);
  SmallVector<Value> values(operands);
  auto numbers = constantShape(op->getOperand(1));
  Value fill;
  for (const FactorWindow &window : context.shardWindows()) {
    int64_t dim = context.rule().operands[0].dimOf(window.factor);
    if (!isSlice && !fill)
      fill = tosa::ReshapeOp::create(
          builder, loc, RankedTensorType::get({}, type.getElementType()),
          operands[2], makeShape(builder, loc, {}));
    values[0] = context.fetchWindow(builder, loc, values[0], window, fill);
    if (isSlice)
      (*numbers)[dim] = 0;
    else
      (*numbers)[2 * dim] = (*numbers)[2 * dim + 1] = 0;
  }
  if (numbers)
    values[1] = makeShape(builder, loc, *numbers);
  if (isSlice)
    values[2] = makeShape(builder, loc, type.getShape());
  return cloneLocally(op, builder, values, context);
}

void shardonnay::upstream::attachTosaShapeModels(MLIRContext &context) {
  attach<TosaReshapeHooks, tosa::ReshapeOp>(context);
  attach<TosaTransposeHooks, tosa::TransposeOp>(context);
  attach<TosaConcatHooks, tosa::ConcatOp>(context);
  attach<TosaReverseHooks, tosa::ReverseOp>(context);
  attach<TosaTileHooks, tosa::TileOp>(context);
  attach<TosaWindowHooks, tosa::SliceOp, tosa::PadOp>(context);
  attachConstantExpression<tosa::ReshapeOp, tosa::TileOp>(context);
}
