//===- Pointwise.h - models of element-wise ops -----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the StableHLO model.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_POINTWISE_H
#define SHARDONNAY_MODELS_STABLEHLO_POINTWISE_H

#include "shardonnay/interfaces/DimSplit.h"
#include "shardonnay/models/StableHLO/Attach.h"

namespace shardonnay {

/// One factor a dim, in all tensors; an operand of rank 0 beside a result of
/// higher rank stands for all elements and has none.
std::optional<FactorRule> pointwiseRule(mlir::Operation *op);

template <typename OpT>
struct PointwiseModel
    : ShardingRuleOpInterface::ExternalModel<PointwiseModel<OpT>, OpT> {
  std::optional<FactorRule> getFactorRule(mlir::Operation *op) const {
    return pointwiseRule(op);
  }
  PropagationClass getPropagationClass(mlir::Operation *) const {
    return PropagationClass::PassThrough;
  }
  bool isElementwise(mlir::Operation *) const { return true; }
  bool isLinear(mlir::Operation *op, ReductionKind kind,
                const llvm::SmallBitVector &partial) const {
    return shardonnay::isLinear(op, kind, partial);
  }
};

template <typename OpT>
struct PointwiseSplit
    : DimSplitOpInterface::ExternalModel<PointwiseSplit<OpT>, OpT> {};

template <typename... OpTs> void attachPointwise(mlir::MLIRContext &context) {
  (OpTs::template attachInterface<PointwiseModel<OpTs>>(context), ...);
  (attachClone<OpTs>(context), ...);
  (OpTs::template attachInterface<PointwiseSplit<OpTs>>(context), ...);
  attachConstantExpression<OpTs...>(context);
}

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_POINTWISE_H
