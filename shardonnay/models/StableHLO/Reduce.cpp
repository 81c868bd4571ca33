//===- Reduce.cpp - reductions over dims ----------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Combiner.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

/// The dims in the inputs' order; those reduced by a combiner that devices can
/// apply to each other's results are Reduction. Initial values are scalars.
static std::optional<FactorRule> reduceRule(ReduceOp op) {
  size_t count = op.getInputs().size();
  ArrayRef<int64_t> shape = shapeOf(op.getInputs().front());
  int64_t rank = shape.size();
  SmallVector<int64_t> ranks(2 * count, 0);
  std::fill_n(ranks.begin(), count, rank);
  int64_t resultRank = rank - op.getDimensions().size();
  FactorRuleBuilder builder(ranks, SmallVector<int64_t>(count, resultRank));

  std::optional<ReductionKind> combiner;
  if (count == 1)
    combiner = combinerOf(op.getBody());
  FactorKind reducedKind =
      combiner ? FactorKind::Reduction : FactorKind::NeedReplication;
  int64_t next = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool reduced = llvm::is_contained(op.getDimensions(), dim);
    SmallVector<int64_t> operandDims(2 * count, -1);
    std::fill_n(operandDims.begin(), count, dim);
    builder.add(shape[dim], operandDims,
                SmallVector<int64_t>(count, reduced ? -1 : next++),
                reduced ? reducedKind : FactorKind::PassThrough,
                combiner.value_or(ReductionKind::Sum));
  }
  return builder.build();
}

/// In a sum, the initial value counts once; maximum and minimum may take it on
/// every device.
static FailureOr<SmallVector<Value>> reduceLocally(ReduceOp op,
                                                   OpBuilder &builder,
                                                   ValueRange operands,
                                                   LocalContext &context) {
  SmallVector<Value> local(operands);
  AxisList axes = axesOfPartialSums(context);
  if (!axes.empty() && !isKnownZero(operands.back()))
    local.back() = LocalMath(builder, op.getLoc())
                       .onlyOnFirst(context, axes, operands.back());
  return cloneLocally(op, builder, local, context);
}

void shardonnay::attachReduceModels(MLIRContext &context) {
  attachRule<ReduceOp, reduceRule>(context);
  attachLocal<ReduceOp, reduceLocally>(context);
}
