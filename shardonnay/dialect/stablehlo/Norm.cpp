//===- Norm.cpp - batch normalisation -------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"

using namespace mlir;
using namespace mlir::stablehlo;

void StablehloDialect::addNormOps() {
  addOperations<
#define GET_OP_LIST
#include "shardonnay/dialect/stablehlo/Norm.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Norm.cpp.inc"

/// That the vectors have an element per feature of `operand`.
static LogicalResult checkFeatures(MaybeLoc location, Value operand,
                                   int64_t feature, ValueRange vectors) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (failed(checkDims(location, "the features", feature, type.getRank())))
    return failure();
  int64_t size = type.getDimSize(feature);
  for (Value vector : vectors) {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(vector.getType()).getShape();
    if (failed(checkShape(location, "a vector with an element per feature",
                          shape, size)))
      return failure();
    if (!ShapedType::isDynamic(shape[0]))
      size = shape[0];
  }
  return success();
}

static Type vectorOf(Value operand, int64_t feature) {
  auto type = cast<RankedTensorType>(operand.getType());
  return RankedTensorType::get(type.getDimSize(feature), type.getElementType());
}

LogicalResult BatchNormInferenceOp::inferReturnTypes(MLIRContext *,
                                                     MaybeLoc location,
                                                     Adaptor adaptor,
                                                     Types &types) {
  types.push_back(adaptor.getOperand().getType());
  return checkFeatures(location, adaptor.getOperand(),
                       adaptor.getFeatureIndex(),
                       {adaptor.getScale(), adaptor.getOffset(),
                        adaptor.getMean(), adaptor.getVariance()});
}

LogicalResult BatchNormTrainingOp::inferReturnTypes(MLIRContext *,
                                                    MaybeLoc location,
                                                    Adaptor adaptor,
                                                    Types &types) {
  Value operand = adaptor.getOperand();
  int64_t feature = adaptor.getFeatureIndex();
  if (failed(checkFeatures(location, operand, feature,
                           {adaptor.getScale(), adaptor.getOffset()})))
    return failure();
  Type vector = vectorOf(operand, feature);
  types.append({operand.getType(), vector, vector});
  return success();
}

LogicalResult BatchNormGradOp::inferReturnTypes(MLIRContext *,
                                                MaybeLoc location,
                                                Adaptor adaptor, Types &types) {
  Value operand = adaptor.getOperand();
  int64_t feature = adaptor.getFeatureIndex();
  if (failed(checkShape(
          location, "the gradient of the output",
          cast<RankedTensorType>(adaptor.getGradOutput().getType()).getShape(),
          cast<RankedTensorType>(operand.getType()).getShape())) ||
      failed(checkFeatures(
          location, operand, feature,
          {adaptor.getScale(), adaptor.getMean(), adaptor.getVariance()})))
    return failure();
  Type vector = vectorOf(operand, feature);
  types.append({operand.getType(), vector, vector});
  return success();
}
