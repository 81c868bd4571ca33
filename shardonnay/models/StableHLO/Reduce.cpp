//===- Reduce.cpp - reductions over dims ----------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
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
  FactorRule rule = builder.build();
  for (Factor &factor : rule.factors)
    factor.exchanged = factor.kind == FactorKind::NeedReplication;
  return rule;
}

/// What the local reduction starts from if `init` is combined with its result
/// afterwards; null if it starts from `init` as the op says.
static Value getLocalStart(LocalMath &math, Operation &combining, Value init) {
  if (isKnownNeutral(init, combining))
    return Value();
  auto type = cast<RankedTensorType>(init.getType());
  std::optional<ReductionKind> kind = kindOfCombiner(combining);
  if (!kind)
    return math.neutral(combining, type);
  return kind == ReductionKind::Sum ? math.sumIdentity(type) : init;
}

/// The initial value is not given to the local reduction: engines may drop it
/// where that reduces dims of size 1, or a concatenation of such, which an
/// all_to_all is to XLA. In a sum, it counts on one device only.
static LocalResults reduceLocally(ReduceOp op, OpBuilder &builder,
                                  ValueRange operands, LocalContext &context) {
  Operation *combining =
      op.getInputs().size() == 1 ? combiningOp(op.getBody()) : nullptr;
  LocalMath math(builder, op.getLoc());
  Value init = operands.back();
  Value start = combining ? getLocalStart(math, *combining, init) : Value();
  if (!start)
    return cloneLocally(op, builder, operands, context);

  SmallVector<Value> local(operands);
  local.back() = start;
  AxisList partial = axesOfPartialSums(context);
  if (!partial.empty())
    init = math.onlyOnFirst(context, partial, init);
  Value result = cloneLocally(op, builder, local, context)[0];
  init = math.broadcast(init, cast<RankedTensorType>(result.getType()));
  return SmallVector<Value>{math.combine(op.getBody(), result, init)};
}

//===----------------------------------------------------------------------===//
// Reductions whose partial results `unreduced` can't state
//===----------------------------------------------------------------------===//

namespace {
/// Products, bitwise combinations, and reductions of several tensors at once
/// (argmax): each device reduces its part, all exchange what they found, and
/// each reduces that.
class ExchangedReduction {
public:
  ExchangedReduction(ReduceOp op, OpBuilder &builder, ValueRange operands,
                     LocalContext &context)
      : op(op), builder(builder), context(context), loc(op.getLoc()),
        math(builder, loc), count(op.getInputs().size()),
        inputs(operands.take_front(count)), inits(operands.drop_front(count)) {}

  SmallVector<Value> build();

private:
  /// What may stand in for elements that are not there. The initial value may
  /// be combined any number of times, says the op; but engines take it once, so
  /// where the neutral element is known, it is taken.
  Value neutral(size_t i);
  ReduceOp reduce(ValueRange values, ValueRange starts, TypeRange types,
                  ArrayRef<int64_t> dims);

  ReduceOp op;
  OpBuilder &builder;
  LocalContext &context;
  Location loc;
  LocalMath math;
  size_t count;
  SmallVector<Value> inputs, inits;
};
} // namespace

Value ExchangedReduction::neutral(size_t i) {
  Operation *combiner = count == 1 ? combiningOp(op.getBody()) : nullptr;
  Value known;
  if (combiner)
    known = math.neutral(*combiner, cast<RankedTensorType>(inits[i].getType()));
  return known ? known : inits[i];
}

ReduceOp ExchangedReduction::reduce(ValueRange values, ValueRange starts,
                                    TypeRange types, ArrayRef<int64_t> dims) {
  auto result = ReduceOp::create(builder, loc, types, values, starts, dims);
  IRMapping mapping;
  op.getBody().cloneInto(&result.getBody(), mapping);
  return result;
}

SmallVector<Value> ExchangedReduction::build() {
  SmallVector<Value> starts;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    starts.push_back(neutral(i));
    input = math.fillExchanged(context, i, input, starts.back());
  }
  ReduceOp partial =
      reduce(inputs, starts, context.resultTypes(), op.getDimensions());
  AxisList axes = axesOfExchanges(context);
  SmallVector<Value> rows;
  for (Value found : partial.getResults())
    rows.push_back(math.gatherRows(context, axes, found));
  ReduceOp whole = reduce(rows, inits, context.resultTypes(), {0});
  return llvm::to_vector_of<Value>(whole.getResults());
}

static LocalResults reduceOrExchange(ReduceOp op, OpBuilder &builder,
                                     ValueRange operands,
                                     LocalContext &context) {
  if (axesOfExchanges(context).empty())
    return reduceLocally(op, builder, operands, context);
  return ExchangedReduction(op, builder, operands, context).build();
}

void shardonnay::attachReduceModels(MLIRContext &context) {
  attachRule<ReduceOp, reduceRule>(context);
  // What is no factor of sums to propagation can still be exchanged.
  attachLocal<ReduceOp, reduceOrExchange, mayShardAny>(context);
}
