//===- TosaWindow.cpp - pooling and convolutions --------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Windows slide over the spatial dims, which are dims 1, 2, ... of the first
// operand and of the result. A device that has some of a dim's windows fetches
// what they see of its neighbours, and what TOSA calls padding besides:
//
//   max_pool2d        the smallest number
//   convolutions      the zero point, which is taken off again
//   avg_pool2d        nothing stands for it, as what is there is counted: a dim
//                     that is padded is needed whole
//
// Then the op runs on whole windows, without padding.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "shardonnay/interfaces/NeutralElement.h"
#include "shardonnay/models/Upstream/Families.h"
#include "shardonnay/models/Upstream/TosaNest.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardonnay;
using namespace shardonnay::upstream;

namespace {
/// What windows of one dim look like.
struct DimWindow {
  int64_t size = 1, stride = 1, dilation = 1, low = 0, high = 0;
  int64_t extent() const { return (size - 1) * dilation + 1; }
  bool isPadded() const { return low != 0 || high != 0; }
};

/// The windows of an op, dim by dim, the first being dim 1.
using DimWindows = SmallVector<DimWindow, 3>;
} // namespace

static DimWindows readWindows(ArrayRef<int64_t> sizes, ArrayRef<int64_t> stride,
                              ArrayRef<int64_t> pad,
                              ArrayRef<int64_t> dilation) {
  DimWindows windows;
  for (auto [i, size] : llvm::enumerate(sizes))
    windows.push_back({size, stride[i], dilation.empty() ? 1 : dilation[i],
                       pad[2 * i], pad[2 * i + 1]});
  return windows;
}

static DimWindows windowsOf(Operation *op) {
  return TypeSwitch<Operation *, DimWindows>(op)
      .Case<tosa::MaxPool2dOp, tosa::AvgPool2dOp>([](auto pool) {
        return readWindows(pool.getKernel(), pool.getStride(), pool.getPad(),
                           {});
      })
      .Case<tosa::Conv2DOp, tosa::Conv3DOp>([](auto conv) {
        return readWindows(shapeOf(conv.getWeight()).drop_front().drop_back(),
                           conv.getStride(), conv.getPad(), conv.getDilation());
      })
      .Case<tosa::DepthwiseConv2DOp>([](auto conv) {
        return readWindows(shapeOf(conv.getWeight()).take_front(2),
                           conv.getStride(), conv.getPad(), conv.getDilation());
      });
}

/// The smallest number, as a scalar tensor; null for types without one.
static DenseElementsAttr smallestOf(Type element) {
  return isa<FloatType, IntegerType>(element)
             ? getNeutralElement(element, ReductionKind::Max)
             : nullptr;
}

/// Windows of `dim` may be sharded.
static bool canShard(Operation *op, const DimWindow &dim) {
  if (!dim.isPadded())
    return true;
  if (isa<tosa::AvgPool2dOp>(op))
    return false;
  return !isa<tosa::MaxPool2dOp>(op) ||
         smallestOf(getElementTypeOrSelf(op->getResult(0).getType()));
}

/// What stands where nothing is, as a scalar tensor.
static Value makeFill(Operation *op, OpBuilder &builder, ValueRange operands) {
  Location loc = op->getLoc();
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  if (isa<tosa::MaxPool2dOp>(op))
    return arith::ConstantOp::create(builder, loc, smallestOf(element));
  return tosa::ReshapeOp::create(
      builder, loc, RankedTensorType::get({}, element), operands[3],
      tosa::ConstShapeOp::create(builder, loc,
                                 tosa::shapeType::get(builder.getContext(), 0),
                                 builder.getIndexTensorAttr({})));
}

/// The rule with the windows that `op` says, dims that have none passing.
static std::optional<FactorRule> withWindows(Operation *op,
                                             std::optional<FactorRule> rule) {
  if (!rule)
    return std::nullopt;
  rule->windows.clear();
  for (auto [i, dim] : llvm::enumerate(windowsOf(op))) {
    FactorWindow window;
    window.factor = rule->operands[0].dims[i + 1].front();
    window.size = shapeOf(op->getOperand(0))[i + 1];
    window.count = shapeOf(op->getResult(0))[i + 1];
    window.stride = dim.stride;
    window.low = dim.low;
    window.extent = dim.extent();
    bool isTrivial = dim.size == 1 && dim.stride == 1 && !dim.isPadded();
    if (isTrivial)
      rule->factors[window.factor].kind = FactorKind::PassThrough;
    else if (canShard(op, dim))
      rule->windows.push_back(window);
  }
  return rule;
}

/// The operands on which whole windows are computed, `isWhole` getting the dims
/// that have no padding any more.
static SmallVector<Value> fetchWindows(Operation *op, OpBuilder &builder,
                                       ValueRange operands,
                                       LocalContext &context,
                                       llvm::SmallBitVector &isWhole) {
  SmallVector<Value> values(operands);
  DimWindows windows = windowsOf(op);
  isWhole.resize(windows.size());
  Value fill;
  for (const FactorWindow &window : context.shardWindows()) {
    int64_t dim = context.rule().operands[0].dimOf(window.factor) - 1;
    bool isPadded = windows[dim].isPadded();
    if (isPadded && !fill)
      fill = makeFill(op, builder, operands);
    values[0] = context.fetchWindow(builder, op->getLoc(), values[0], window,
                                    isPadded ? fill : Value());
    isWhole.set(dim);
  }
  return values;
}

namespace {
template <typename BaseT> struct WindowHooks : BaseT {
  static std::optional<FactorRule> rule(Operation *op) {
    return withWindows(op, BaseT::rule(op));
  }
  static bool mayShard(Operation *, const FactorRule &rule, int32_t factor) {
    return llvm::any_of(rule.windows, [&](const FactorWindow &window) {
      return window.factor == factor;
    });
  }
  static LocalResults computeLocally(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
    llvm::SmallBitVector isWhole;
    SmallVector<Value> values =
        fetchWindows(op, builder, operands, context, isWhole);
    LocalResults results = BaseT::computeLocally(op, builder, values, context);
    if (failed(results))
      return results;
    SmallVector<int64_t> pad(
        cast<DenseI64ArrayAttr>(op->getAttr("pad")).asArrayRef());
    for (unsigned dim : isWhole.set_bits())
      pad[2 * dim] = pad[2 * dim + 1] = 0;
    results->front().getDefiningOp()->setAttr(
        "pad", builder.getDenseI64ArrayAttr(pad));
    return results;
  }
};

struct DepthwiseHooks : OpHooks {
  static std::optional<FactorRule> rule(Operation *op) {
    return depthwiseRule(op);
  }
};
} // namespace

void shardonnay::upstream::attachTosaWindowModels(MLIRContext &context) {
  attach<WindowHooks<TosaNestHooks>, tosa::Conv2DOp, tosa::Conv3DOp,
         tosa::AvgPool2dOp, tosa::MaxPool2dOp>(context);
  attach<WindowHooks<DepthwiseHooks>, tosa::DepthwiseConv2DOp>(context);
}
