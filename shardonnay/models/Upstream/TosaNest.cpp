//===- TosaNest.cpp - contractions, windows, reductions -------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TOSA's ops don't say their loops; here they do, in a letter each: the
// parallel loops are those of the result, in its order; the others are
// reductions. The dims of operands are written in order, `*` for what stands
// for itself, such as a zero point.
//
//   matmul    "nhc,ncw,*,*->nhw"
//   conv2d    "n(y+i)(x+j)c,oijc,o,*,*->nyxo"
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/Upstream/TosaNest.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "shardonnay/models/Upstream/Families.h"
#include "shardonnay/models/Upstream/LocalArith.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

namespace {
/// Reads a nest from letters. What the windows look like, TosaWindow.cpp says.
class NestReader {
public:
  NestReader(Operation *op, StringRef text) : context(op->getContext()) {
    auto [operands, result] = text.split("->");
    for (char letter : (result + operands).str())
      if (isLetter(letter) && letters.find(letter) == std::string::npos)
        letters.push_back(letter);
    SmallVector<StringRef> parts;
    operands.split(parts, ',');
    parts.push_back(result);
    for (char letter : letters) {
      Loop loop;
      if (!result.contains(letter))
        loop = {utils::IteratorType::reduction, ReductionKind::Sum};
      nest.loops.push_back(loop);
    }
    for (StringRef part : parts)
      nest.maps.push_back(readMap(part));
  }

  LoopNest nest;

private:
  static bool isLetter(char c) { return c >= 'a' && c <= 'z'; }

  AffineExpr loop(char letter) {
    return getAffineDimExpr(letters.find(letter), context);
  }
  AffineMap readMap(StringRef text) {
    SmallVector<AffineExpr> dims;
    bool inWindow = false;
    for (char c : text) {
      if (c == '*')
        dims.push_back(getAffineConstantExpr(0, context));
      else if (isLetter(c) && inWindow && dims.back())
        dims.back() = dims.back() + loop(c);
      else if (isLetter(c) && inWindow)
        dims.back() = loop(c);
      else if (isLetter(c))
        dims.push_back(loop(c));
      else if (c == '(')
        dims.push_back({});
      inWindow = c == '(' || (inWindow && c != ')');
    }
    return AffineMap::get(letters.size(), 0, dims, context);
  }

  MLIRContext *context;
  std::string letters;
};
} // namespace

static StringRef lettersOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<tosa::MatMulOp>([](auto) { return "nhc,ncw,*,*->nhw"; })
      .Case<tosa::Conv2DOp>(
          [](auto) { return "n(y+i)(x+j)c,oijc,o,*,*->nyxo"; })
      .Case<tosa::Conv3DOp>(
          [](auto) { return "n(z+k)(y+i)(x+j)c,okijc,o,*,*->nzyxo"; })
      .Case<tosa::TransposeConv2DOp>(
          [](auto) { return "n(y+i)(x+j)c,oijc,o,*,*->nyxo"; })
      .Case<tosa::AvgPool2dOp>([](auto) { return "n(y+i)(x+j)c,*,*->nyxc"; })
      .Case<tosa::MaxPool2dOp>([](auto) { return "n(y+i)(x+j)c->nyxc"; })
      .Case<tosa::GatherOp>([](auto) { return "n*c,nw->nwc"; })
      .Case<tosa::ResizeOp>([](auto) { return "n(y+i)(x+j)c,,,->nyxc"; })
      .Default([](Operation *) { return ""; });
}

/// A zero point that takes nothing off. Those of floats are zero by definition.
static bool isNoZeroPoint(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType())) ||
         isKnownZero(value);
}

LoopNest TosaNestHooks::nest(Operation *op) {
  LoopNest nest = NestReader(op, lettersOf(op)).nest;
  // A neutral element is none where a zero point is taken off.
  bool zeroPoints = isa<tosa::MatMulOp>(op) || op->getNumOperands() == 5;
  if (zeroPoints &&
      !llvm::all_of(op->getOperands().take_back(2), isNoZeroPoint))
    for (Loop &loop : nest.loops)
      loop.combiner = std::nullopt;
  return nest;
}

bool TosaNestHooks::isContraction(Operation *op) {
  return isa<tosa::MatMulOp, tosa::Conv2DOp, tosa::Conv3DOp,
             tosa::TransposeConv2DOp>(op);
}

bool TosaNestHooks::isLinear(Operation *op, ReductionKind kind,
                             const llvm::SmallBitVector &partial) {
  return kind == ReductionKind::Sum && isa<tosa::MatMulOp>(op) &&
         partial[0] != partial[1] &&
         llvm::all_of(op->getOperands().take_back(2), isNoZeroPoint);
}

/// The bias is added once.
LocalResults TosaNestHooks::computeLocally(Operation *op, OpBuilder &builder,
                                           ValueRange operands,
                                           LocalContext &context) {
  SmallVector<Value> values(operands);
  AxisList axes = axesOfPartialSums(context);
  if (isContraction(op) && values.size() == 5 && !axes.empty() &&
      !isKnownZero(op->getOperand(2)))
    values[2] =
        LocalArith(builder, op->getLoc()).onlyOnFirst(context, axes, values[2]);
  return cloneLocally(op, builder, values, context);
}

std::optional<FactorRule> shardonnay::upstream::depthwiseRule(Operation *op) {
  if (!hasStaticShapes(op))
    return std::nullopt;
  ArrayRef<int64_t> weight = shapeOf(op->getOperand(1));
  ArrayRef<int64_t> result = shapeOf(op->getResult(0));
  FactorRuleBuilder builder({4, 4, 1, 1, 1}, {4});
  builder.add(result[0], {0, -1, -1, -1, -1}, {0});
  for (int64_t dim : {1, 2})
    builder.add(result[dim], {dim, -1, -1, -1, -1}, {dim},
                FactorKind::Windowed);
  bool repeatsBias = shapeOf(op->getOperand(2))[0] != result[3];
  int64_t bias = repeatsBias ? -1 : 0;
  if (weight[2] != 1 || weight[3] == 1)
    builder.add(weight[2], {3, 2, bias, -1, -1}, {3});
  if (weight[3] != 1)
    builder.add(weight[3], {-1, 3, bias, -1, -1}, {3});
  for (int64_t dim : {0, 1})
    builder.add(weight[dim], {-1, dim, -1, -1, -1}, {-1},
                FactorKind::NeedReplication);
  // What has size 1.
  if (weight[2] == 1 && weight[3] != 1) {
    builder.add(1, {3, -1, -1, -1, -1}, {-1});
    builder.add(1, {-1, 2, -1, -1, -1}, {-1});
  }
  if (weight[3] == 1)
    builder.add(1, {-1, 3, -1, -1, -1}, {-1});
  if (repeatsBias)
    builder.add(1, {-1, -1, 0, -1, -1}, {-1});
  builder.add(1, {-1, -1, -1, 0, -1}, {-1});
  builder.add(1, {-1, -1, -1, -1, 0}, {-1});
  return builder.build();
}

namespace {
/// Values nkc, indices nw, updates nwc: rows go to places that are data.
struct ScatterHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    if (!hasStaticShapes(op))
      return std::nullopt;
    ArrayRef<int64_t> values = shapeOf(op->getOperand(0));
    constexpr auto kWhole = FactorKind::NeedReplication;
    FactorRuleBuilder builder({3, 2, 3}, {3});
    builder.add(values[0], {0, 0, 0}, {0});
    builder.add(values[1], {1, -1, -1}, {1}, kWhole);
    builder.add(values[2], {2, -1, 2}, {2});
    builder.add(shapeOf(op->getOperand(1))[1], {-1, 1, 1}, {-1}, kWhole);
    return builder.build();
  }
  static bool isLinear(Operation *, ReductionKind kind,
                       const llvm::SmallBitVector &partial) {
    return kind == ReductionKind::Sum && partial[0] && !partial[1] &&
           partial[2];
  }
};

/// Transforms of the last two dims of three; rfft2d halves the last one.
struct FourierHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    if (!hasStaticShapes(op))
      return std::nullopt;
    ArrayRef<int64_t> from = shapeOf(op->getOperand(0));
    ArrayRef<int64_t> to = shapeOf(op->getResult(0));
    size_t operands = op->getNumOperands(), results = op->getNumResults();
    FactorRuleBuilder builder(SmallVector<int64_t>(operands, 3),
                              SmallVector<int64_t>(results, 3));
    auto add = [&](int64_t size, int64_t operandDim, int64_t resultDim,
                   FactorKind kind) {
      builder.add(size, SmallVector<int64_t>(operands, operandDim),
                  SmallVector<int64_t>(results, resultDim), kind);
    };
    add(from[0], 0, 0, FactorKind::PassThrough);
    add(from[1], 1, 1, FactorKind::NeedReplication);
    add(from[2], 2, from[2] == to[2] ? 2 : -1, FactorKind::NeedReplication);
    if (from[2] != to[2])
      add(to[2], -1, 2, FactorKind::NeedReplication);
    return builder.build();
  }
  static bool isLinear(Operation *, ReductionKind kind,
                       const llvm::SmallBitVector &partial) {
    return kind == ReductionKind::Sum && partial.all();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <typename OpT> static bool keepsNan(Operation *op) {
  return cast<OpT>(op).getNanMode() == tosa::NanPropagationMode::PROPAGATE;
}

/// Numbers of one bit wrap: their sum is no sum that devices know, and true is
/// less than false.
static std::optional<ReductionKind> combinerOf(Operation *op) {
  if (getElementTypeOrSelf(op->getOperand(0)).isInteger(1) &&
      !isa<tosa::ReduceAnyOp, tosa::ReduceAllOp>(op))
    return std::nullopt;
  if (isa<tosa::ReduceSumOp>(op))
    return ReductionKind::Sum;
  if (isa<tosa::ReduceAnyOp>(op) ||
      (isa<tosa::ReduceMaxOp>(op) && keepsNan<tosa::ReduceMaxOp>(op)))
    return ReductionKind::Max;
  if (isa<tosa::ReduceAllOp>(op) ||
      (isa<tosa::ReduceMinOp>(op) && keepsNan<tosa::ReduceMinOp>(op)))
    return ReductionKind::Min;
  return std::nullopt;
}

namespace {
/// The dim that is reduced stays, with size 1; argmax drops it.
struct TosaReduceHooks : NestHooks<TosaReduceHooks> {
  static LoopNest nest(Operation *op) {
    LoopNest nest;
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!type)
      return nest;
    MLIRContext *context = op->getContext();
    int64_t rank = type.getRank();
    unsigned axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
    nest.loops.resize(rank);
    nest.loops[axis] = {utils::IteratorType::reduction, combinerOf(op)};
    auto from = AffineMap::getMultiDimIdentityMap(rank, context);
    SmallVector<AffineExpr> dims(from.getResults());
    if (isa<tosa::ArgMaxOp>(op))
      dims.erase(dims.begin() + axis);
    else
      dims[axis] = getAffineConstantExpr(0, context);
    nest.maps = {from, AffineMap::get(rank, 0, dims, context)};
    return nest;
  }
  static bool isLinear(Operation *op, ReductionKind kind,
                       const llvm::SmallBitVector &partial) {
    return partial[0] && combinerOf(op) == kind;
  }
};
} // namespace

void shardonnay::upstream::attachTosaNestModels(MLIRContext &context) {
  attach<TosaNestHooks, tosa::MatMulOp, tosa::TransposeConv2DOp, tosa::GatherOp,
         tosa::ResizeOp>(context);
  attach<ScatterHooks, tosa::ScatterOp>(context);
  attach<FourierHooks, tosa::FFT2dOp, tosa::RFFT2dOp>(context);
  attach<TosaReduceHooks, tosa::ReduceSumOp, tosa::ReduceMaxOp,
         tosa::ReduceMinOp, tosa::ReduceAllOp, tosa::ReduceAnyOp,
         tosa::ReduceProductOp, tosa::ArgMaxOp>(context);
}
