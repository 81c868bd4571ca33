//===- Families.h - one function a dialect ----------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the models of MLIR's own dialects.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_UPSTREAM_FAMILIES_H
#define SHARDONNAY_MODELS_UPSTREAM_FAMILIES_H

#include "mlir/IR/MLIRContext.h"

namespace shardonnay::upstream {

/// Models of the ops of `arith` and `math` with MLIR's Elementwise trait.
void attachElementwiseModels(mlir::MLIRContext &context,
                             llvm::StringRef dialect);
void attachAffineModels(mlir::MLIRContext &context);
void attachArithModels(mlir::MLIRContext &context);
void attachLinalgModels(mlir::MLIRContext &context);
void attachLinalgPackModels(mlir::MLIRContext &context);
void attachTensorIndexedModels(mlir::MLIRContext &context);
void attachTensorModels(mlir::MLIRContext &context);
void attachTosaElementwiseModels(mlir::MLIRContext &context);
void attachTosaNestModels(mlir::MLIRContext &context);
void attachTosaWindowModels(mlir::MLIRContext &context);
void attachTosaShapeModels(mlir::MLIRContext &context);
void attachTosaControlModels(mlir::MLIRContext &context);
void attachScfModels(mlir::MLIRContext &context);

} // namespace shardonnay::upstream

#endif // SHARDONNAY_MODELS_UPSTREAM_FAMILIES_H
