//===- Norm.cpp - batch normalisation -------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Training and gradient need sums of a feature over the whole batch. Where the
// batch is sharded, each device sums its part, the devices sum those, and the
// rest is element-wise:
//
//   training: mean = sum(x) / n, variance = sum((x - mean)^2) / n,
//     y = scale (x - mean) / sqrt(variance + epsilon) + offset
//   gradient: with c = x - mean, S = sum(g), T = sum(g c), v = variance +
//     epsilon: scale / sqrt(v) (g - (S + T c / v) / n), T / sqrt(v), and S
//
// What stands behind the end of a part is 0 in each sum. Floats narrower than
// 32 bits are computed in f32.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/LocalMath.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

/// Factors: the dims of the normalised tensors, of `kind` but for the features,
/// which the vectors have too.
template <typename OpT> static FactorRule normRule(OpT op, FactorKind kind) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  int64_t rank = shape.size(), feature = op.getFeatureIndex();
  auto ranks = [&](auto values) {
    return llvm::map_to_vector(values, [&](Value value) {
      return static_cast<int64_t>(shapeOf(value).size());
    });
  };
  auto dims = [&](auto values, int64_t dim) {
    return llvm::map_to_vector(values, [&](Value value) -> int64_t {
      if (value.getType() == op.getOperand().getType() && rank != 1)
        return dim;
      return dim == feature ? 0 : -1;
    });
  };
  FactorRuleBuilder builder(ranks(op->getOperands()), ranks(op->getResults()));
  for (int64_t dim = 0; dim < rank; ++dim)
    builder.add(shape[dim], dims(op->getOperands(), dim),
                dims(op->getResults(), dim),
                dim == feature ? FactorKind::PassThrough : kind);
  return builder.build();
}

static std::optional<FactorRule> inferenceRule(BatchNormInferenceOp op) {
  return normRule(op, FactorKind::PassThrough);
}

/// The floats that a sharded batch is computed in.
static Type wideElement(Operation *op) {
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  auto number = dyn_cast<FloatType>(type);
  return number && number.getWidth() < 32 ? Float32Type::get(op->getContext())
                                          : type;
}

/// The statistics of a feature need all of its elements: where the batch is
/// sharded, two sums as large as `vectors` go over it.
template <typename OpT>
static FactorRule statisticsRule(OpT op, std::array<int32_t, 2> vectors) {
  FactorRule rule = normRule(op, FactorKind::NeedReplication);
  if (auto element = dyn_cast<FloatType>(wideElement(op)))
    for (int32_t vector : vectors)
      rule.sums.push_back({vector, element.getWidth() / 8});
  return rule;
}

// Mean and variance.
static std::optional<FactorRule> trainingRule(BatchNormTrainingOp op) {
  return statisticsRule(op, {4, 5});
}
// The gradients of scale and offset.
static std::optional<FactorRule> gradRule(BatchNormGradOp op) {
  return statisticsRule(op, {6, 7});
}

namespace {

/// The arithmetic of an op whose batch is sharded, on floats of one type.
class ShardedNorm {
public:
  ShardedNorm(Operation *op, int64_t feature, FloatAttr epsilon,
              OpBuilder &builder, LocalContext &context)
      : feature(feature), epsilon(epsilon), builder(builder), context(context),
        loc(op->getLoc()), math(builder, loc) {
    shape = shapeOf(op->getOperand(0));
    element = wideElement(op);
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
      if (dim != feature) {
        batchDims.push_back(dim);
        axes.append(axesOfBatch(dim));
        count *= shape[dim];
      }
  }

  bool shardsBatch() const { return !axes.empty(); }
  LocalResults train(ValueRange operands);
  LocalResults differentiate(ValueRange operands);

private:
  AxisList axesOfBatch(int64_t dim) {
    return axesOfDim(context, context.rule().operands[0], dim);
  }
  RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }
  Value wide(Value value) { return math.convert(value, element); }
  Value multiply(Value lhs, Value rhs) {
    return MulOp::create(builder, loc, lhs, rhs);
  }
  Value divide(Value lhs, Value rhs) {
    return DivOp::create(builder, loc, lhs, rhs);
  }
  Value filled(RankedTensorType type, double value) {
    return ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            type, builder.getFloatAttr(element, value).getValue()));
  }
  /// The whole with 0 behind its end.
  Value fillEnd(Value value);
  /// The sum for each feature, over the whole batch.
  Value sum(Value value);
  Value mean(Value value) {
    Value total = sum(value);
    return divide(total, filled(typeOf(total), static_cast<double>(count)));
  }
  /// variance + epsilon.
  Value stable(Value variance) {
    return math.add(variance,
                    filled(typeOf(variance), epsilon.getValueAsDouble()));
  }
  Value forEach(Value perFeature, Value like) {
    return math.broadcast(perFeature, typeOf(like), {feature});
  }
  SmallVector<Value> narrow(ArrayRef<Value> values);

  int64_t feature;
  FloatAttr epsilon;
  OpBuilder &builder;
  LocalContext &context;
  Location loc;
  LocalMath math;
  ArrayRef<int64_t> shape;
  Type element;
  SmallVector<int64_t> batchDims;
  AxisList axes;
  int64_t count = 1;
};

Value ShardedNorm::fillEnd(Value value) {
  Value zero = filled(RankedTensorType::get({}, element), 0);
  for (int64_t dim : batchDims) {
    AxisList sharded = axesOfBatch(dim);
    if (shape[dim] % sharded.numShards() != 0)
      value =
          context.fillEnd(builder, loc, value, dim, shape[dim], sharded, zero);
  }
  return value;
}

Value ShardedNorm::sum(Value value) {
  auto scalar = RankedTensorType::get({}, element);
  auto vector =
      RankedTensorType::get({typeOf(value).getDimSize(feature)}, element);
  auto reduce = ReduceOp::create(builder, loc, TypeRange(vector), value,
                                 math.sumIdentity(scalar), batchDims);
  OpBuilder inside(builder.getContext());
  Block *body =
      inside.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {loc, loc});
  Value added =
      AddOp::create(inside, loc, body->getArgument(0), body->getArgument(1));
  ReturnOp::create(inside, loc, added);
  return context.allReduce(builder, loc, reduce->getResult(0), axes);
}

SmallVector<Value> ShardedNorm::narrow(ArrayRef<Value> values) {
  SmallVector<Value> results;
  for (auto [value, type] : llvm::zip_equal(values, context.resultTypes()))
    results.push_back(math.convert(value, getElementTypeOrSelf(type)));
  return results;
}

LocalResults ShardedNorm::train(ValueRange operands) {
  Value x = fillEnd(wide(operands[0]));
  Value scale = wide(operands[1]), offset = wide(operands[2]);
  Value average = mean(x);
  Value centered = fillEnd(math.subtract(x, forEach(average, x)));
  Value variance = mean(multiply(centered, centered));
  Value deviation = SqrtOp::create(builder, loc, stable(variance));
  Value factor = forEach(divide(scale, deviation), x);
  Value y = math.add(multiply(centered, factor), forEach(offset, x));
  return narrow({y, average, variance});
}

LocalResults ShardedNorm::differentiate(ValueRange operands) {
  Value x = fillEnd(wide(operands[0])), gradient = fillEnd(wide(operands[4]));
  Value scale = wide(operands[1]), variance = stable(wide(operands[3]));
  Value centered = math.subtract(x, forEach(wide(operands[2]), x));
  Value sumOfGradients = sum(gradient);
  Value sumOfProducts = sum(multiply(gradient, centered));
  Value deviation = SqrtOp::create(builder, loc, variance);
  Value slope = multiply(centered, forEach(divide(sumOfProducts, variance), x));
  Value shared = divide(math.add(forEach(sumOfGradients, x), slope),
                        filled(typeOf(x), static_cast<double>(count)));
  Value ofX = multiply(math.subtract(gradient, shared),
                       forEach(divide(scale, deviation), x));
  return narrow({ofX, divide(sumOfProducts, deviation), sumOfGradients});
}

template <typename OpT, LocalResults (ShardedNorm::*kCompute)(ValueRange)>
LocalResults normLocally(OpT op, OpBuilder &builder, ValueRange operands,
                         LocalContext &context) {
  ShardedNorm norm(op, op.getFeatureIndex(), op.getEpsilonAttr(), builder,
                   context);
  if (!norm.shardsBatch())
    return cloneLocally(op, builder, operands, context);
  return (norm.*kCompute)(operands);
}

/// What propagation may not shard can still be summed over the devices.
static bool mayShard(Operation *op, const FactorRule &, int32_t) {
  return isa<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
}

} // namespace

void shardonnay::attachNormModels(MLIRContext &context) {
  attachRule<BatchNormInferenceOp, inferenceRule>(context);
  attachRule<BatchNormTrainingOp, trainingRule>(context);
  attachRule<BatchNormGradOp, gradRule>(context);
  attachClone<BatchNormInferenceOp>(context);
  attachLocal<BatchNormTrainingOp,
              normLocally<BatchNormTrainingOp, &ShardedNorm::train>, mayShard>(
      context);
  attachLocal<BatchNormGradOp,
              normLocally<BatchNormGradOp, &ShardedNorm::differentiate>,
              mayShard>(context);
}
