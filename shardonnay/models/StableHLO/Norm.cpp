//===- Norm.cpp - batch normalisation -------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Attach.h"
#include "shardonnay/models/StableHLO/Families.h"

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

// The statistics of a feature need all of its elements.
static std::optional<FactorRule> trainingRule(BatchNormTrainingOp op) {
  return normRule(op, FactorKind::NeedReplication);
}
static std::optional<FactorRule> gradRule(BatchNormGradOp op) {
  return normRule(op, FactorKind::NeedReplication);
}

void shardonnay::attachNormModels(MLIRContext &context) {
  attachRule<BatchNormInferenceOp, inferenceRule>(context);
  attachRule<BatchNormTrainingOp, trainingRule>(context);
  attachRule<BatchNormGradOp, gradRule>(context);
  attachClone<BatchNormInferenceOp>(context);
  attachClone<BatchNormTrainingOp>(context);
  attachClone<BatchNormGradOp>(context);
}
