//===- Families.h - one function a family of ops ----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the StableHLO model.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_FAMILIES_H
#define SHARDONNAY_MODELS_STABLEHLO_FAMILIES_H

#include "mlir/IR/MLIRContext.h"

namespace shardonnay {

void attachElementwiseModels(mlir::MLIRContext &context);
void attachChloModels(mlir::MLIRContext &context);
void attachChloStructuredModels(mlir::MLIRContext &context);
void attachChloBroadcastingModels(mlir::MLIRContext &context);
void attachChloSplitDimsModels(mlir::MLIRContext &context);
void attachConvolutionModels(mlir::MLIRContext &context);
void attachWindowReduceModels(mlir::MLIRContext &context);
void attachSelectAndScatterModels(mlir::MLIRContext &context);
void attachNormModels(mlir::MLIRContext &context);
void attachLegacyModels(mlir::MLIRContext &context);
void attachShapeModels(mlir::MLIRContext &context);
void attachWindowModels(mlir::MLIRContext &context);
void attachDotModels(mlir::MLIRContext &context);
void attachReduceModels(mlir::MLIRContext &context);
void attachGatherModels(mlir::MLIRContext &context);
void attachScatterModels(mlir::MLIRContext &context);
void attachDynamicSliceModels(mlir::MLIRContext &context);
void attachControlModels(mlir::MLIRContext &context);
void attachBatchedModels(mlir::MLIRContext &context);
void attachRandomModels(mlir::MLIRContext &context);
void attachCollectiveModels(mlir::MLIRContext &context);
void attachCustomModels(mlir::MLIRContext &context);
void attachCompositeModels(mlir::MLIRContext &context);
void attachSplitDimsModels(mlir::MLIRContext &context);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_FAMILIES_H
