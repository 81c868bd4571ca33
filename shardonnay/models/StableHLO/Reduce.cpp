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

/// The combiner over cut factors, if any is cut: there is one at most.
static std::optional<ReductionKind> cutCombiner(LocalContext &context) {
  for (auto [id, factor] : llvm::enumerate(context.rule().factors))
    if (factor.kind == FactorKind::Reduction && !context.factorAxes(id).empty())
      return factor.combiner;
  return std::nullopt;
}

/// The initial value is combined with the partial result, not given to the
/// local reduction: engines may drop it where that reduces dims of size 1. In a
/// sum, it counts on one device only.
static FailureOr<SmallVector<Value>> reduceLocally(ReduceOp op,
                                                   OpBuilder &builder,
                                                   ValueRange operands,
                                                   LocalContext &context) {
  std::optional<ReductionKind> combiner = cutCombiner(context);
  Value init = operands.back();
  if (!combiner || isKnownIdentity(init, *combiner))
    return cloneLocally(op, builder, operands, context);

  LocalMath math(builder, op.getLoc());
  SmallVector<Value> local(operands);
  if (combiner == ReductionKind::Sum) {
    init = math.onlyOnFirst(context, axesOfPartialSums(context), init);
    local.back() =
        math.sumIdentity(cast<RankedTensorType>(operands.back().getType()));
  }
  Value result = cloneLocally(op, builder, local, context)[0];
  init = math.broadcast(init, cast<RankedTensorType>(result.getType()));
  return SmallVector<Value>{math.combine(*combiner, result, init)};
}

void shardonnay::attachReduceModels(MLIRContext &context) {
  attachRule<ReduceOp, reduceRule>(context);
  attachLocal<ReduceOp, reduceLocally>(context);
}
