//===- Models.cpp ---------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/Upstream/Models.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "shardonnay/models/Upstream/Families.h"

using namespace mlir;
using namespace shardonnay::upstream;

/// What local computations are built of.
static void loadArithAndTensor(MLIRContext *context) {
  context->loadDialect<arith::ArithDialect, tensor::TensorDialect>();
}

void shardonnay::registerUpstreamDialects(DialectRegistry &registry) {
  registry.insert<
      affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect,
      complex::ComplexDialect, linalg::LinalgDialect, math::MathDialect,
      ml_program::MLProgramDialect, scf::SCFDialect, shard::ShardDialect,
      tensor::TensorDialect, tosa::TosaDialect>();
  registry.addExtension(+[](MLIRContext *context, affine::AffineDialect *) {
    attachAffineModels(*context);
  });
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachArithModels(*context);
  });
  registry.addExtension(
      +[](MLIRContext *context, complex::ComplexDialect *dialect) {
        attachElementwiseModels(*context, dialect->getNamespace());
      });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *dialect) {
    attachElementwiseModels(*context, dialect->getNamespace());
  });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attachTensorModels(*context);
    attachTensorIndexedModels(*context);
  });
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    attachScfModels(*context);
  });
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    loadArithAndTensor(context);
    attachLinalgModels(*context);
    attachLinalgPackModels(*context);
  });
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *) {
    loadArithAndTensor(context);
    attachTosaElementwiseModels(*context);
    attachTosaNestModels(*context);
    attachTosaWindowModels(*context);
    attachTosaShapeModels(*context);
    attachTosaControlModels(*context);
  });
}
