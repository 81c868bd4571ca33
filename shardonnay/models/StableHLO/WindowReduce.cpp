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
    builder.add(shape[dim], operandDims, SmallVector<int64_t>(count, dim),
                window.isTrivial() ? FactorKind::PassThrough
                                   : FactorKind::Windowed);
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
  auto result = cast<RankedTensorType>(context.resultTypes()[0]);
  for (auto [dim, slides] : llvm::enumerate(window)) {
    int32_t factor = context.rule().results[0].dims[dim].front();
    const AxisList &axes = context.factorAxes(factor);
    if (axes.empty() || slides.isTrivial())
      continue;
    WindowDim global = slides;
    for (size_t i = 0; i < count; ++i) {
      Type element = getElementTypeOrSelf(op.getInputs()[i]);
      Value fill = math.convert(operands[count + i], element);
      slides = global;
      local[i] = fetchWindows(builder, op.getLoc(), context, local[i], dim,
                              shapeOf(op.getInputs()[i])[dim], axes,
                              result.getDimSize(dim), slides, fill);
    }
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
