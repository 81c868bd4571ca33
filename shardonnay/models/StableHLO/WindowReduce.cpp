//===- WindowReduce.cpp - reductions of windows ---------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"
#include "shardonnay/models/StableHLO/SlidingWindow.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

static std::optional<FactorRule> reduceWindowRule(ReduceWindowOp op) {
  size_t count = op.getInputs().size();
  ArrayRef<int64_t> shape = shapeOf(op.getResult(0));
  int64_t rank = shape.size();
  SmallVector<int64_t> ranks(2 * count, 0);
  std::fill_n(ranks.begin(), count, rank);
  FactorRuleBuilder builder(ranks, SmallVector<int64_t>(count, rank));
  for (auto [dim, window] : llvm::enumerate(op.getWindow())) {
    SmallVector<int64_t> operandDims(2 * count, -1);
    std::fill_n(operandDims.begin(), count, dim);
    int32_t factor = builder.add(
        shape[dim], operandDims, SmallVector<int64_t>(count, dim),
        window.isTrivial() ? FactorKind::PassThrough : FactorKind::Windowed);
    for (size_t i = 0; i < count && !window.isTrivial(); ++i)
      builder.addWindow(toFactorWindow(
          window, i, factor, shapeOf(op.getInputs()[i])[dim], shape[dim]));
  }
  return builder.build();
}

/// What is outside the inputs is the initial value: the windows of all devices
/// are whole.
static FailureOr<SmallVector<Value>>
reduceWindowLocally(ReduceWindowOp op, OpBuilder &builder, ValueRange operands,
                    LocalContext &context) {
  LocalMath math(builder, op.getLoc());
  SmallVector<Value> local(operands);
  SmallVector<WindowDim> window = op.getWindow();
  size_t count = op.getInputs().size();
  for (const FactorWindow &slides : cutWindows(context)) {
    int64_t i = slides.operand;
    Type element = getElementTypeOrSelf(op.getInputs()[i]);
    Value fill = math.convert(operands[count + i], element);
    CutWindow cut;
    local[i] =
        fetchWindow(builder, op.getLoc(), context, local[i], slides, fill, cut);
    WindowDim &dim = window[context.rule().operands[i].dimOf(slides.factor)];
    dim.low = cut.low;
    dim.high = cut.high;
    dim.baseDilation = cut.baseDilation;
  }
  SmallVector<Value> results = cloneLocally(op, builder, local, context);
  auto reduce = results.front().getDefiningOp<ReduceWindowOp>();
  reduce.setPaddingAttr(paddingOf(builder, window));
  reduce.setBaseDilations(llvm::map_to_vector(
      window, [](const WindowDim &dim) { return dim.baseDilation; }));
  return results;
}

void shardonnay::attachWindowReduceModels(MLIRContext &context) {
  attachRule<ReduceWindowOp, reduceWindowRule>(context);
  attachLocal<ReduceWindowOp, reduceWindowLocally>(context);
}
