//===- Elementwise.cpp - each result element from its own index -----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/models/StableHLO/Families.h"
#include "shardonnay/models/StableHLO/Pointwise.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

/// The elements have a scale for each position of dim `dim`, which their type
/// lists: a part of the dim would have elements of another type.
static bool isQuantizedDim(Operation *op, int64_t dim) {
  auto isQuantized = [&](Type type) {
    auto element = dyn_cast<quant::UniformQuantizedPerAxisType>(
        getElementTypeOrSelf(type));
    return element && element.getQuantizedDimension() == dim;
  };
  return llvm::any_of(op->getOperandTypes(), isQuantized) ||
         llvm::any_of(op->getResultTypes(), isQuantized);
}

std::optional<shardonnay::FactorRule> shardonnay::pointwiseRule(Operation *op) {
  if (!hasStaticShapes(op))
    return std::nullopt;
  SmallVector<int64_t> ranks;
  for (Value operand : op->getOperands())
    ranks.push_back(shapeOf(operand).size());
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  int64_t rank = shape.size();
  FactorRuleBuilder builder(ranks, {rank});
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<int64_t> operandDims;
    for (int64_t operandRank : ranks)
      operandDims.push_back(operandRank == 0 ? -1 : dim);
    builder.add(shape[dim], operandDims, {dim},
                isQuantizedDim(op, dim) ? FactorKind::NeedReplication
                                        : FactorKind::PassThrough);
  }
  return builder.build();
}

void shardonnay::attachElementwiseModels(MLIRContext &context) {
  attachPointwise<
      AbsOp, AddOp, AndOp, Atan2Op, CbrtOp, CeilOp, ClampOp, ClzOp, CompareOp,
      ComplexOp, ConvertOp, CosineOp, DivOp, ExpOp, Expm1Op, FloorOp, ImagOp,
      IsFiniteOp, Log1pOp, LogOp, LogisticOp, MaxOp, MinOp, MulOp, NegOp, NotOp,
      OrOp, PopulationCountOp, PowOp, RealOp, ReducePrecisionOp, RemOp,
      RoundNearestEvenOp, RoundOp, RsqrtOp, SelectOp, ShiftLeftOp,
      ShiftRightArithmeticOp, ShiftRightLogicalOp, SignOp, SineOp, SqrtOp,
      SubtractOp, TanOp, TanhOp, UniformDequantizeOp, UniformQuantizeOp, XorOp>(
      context);
}
