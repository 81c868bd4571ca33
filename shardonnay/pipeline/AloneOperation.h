//===- AloneOperation.h - an operation as a program of its own --*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation that is partitioned alone becomes a manual computation over all
// axes of the mesh: what a device runs of it, its communication included. That
// divides all dims, so tensors that their axes don't divide are padded before
// it and sliced behind it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_ALONEOPERATION_H
#define SHARDONNAY_PIPELINE_ALONEOPERATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"

namespace shardonnay {

class OperationPartitioner {
public:
  struct Options {
    bool enableHaloExchange = true;
    int64_t replicaCount = 1;
    int64_t partitionCount = 1;
    /// Tensors may be partial.
    bool allowsPartial = false;
  };

  /// What `partition` may make ops of. A pass on functions has to state it:
  /// others run beside it, and may not load a dialect.
  static void getDependentDialects(mlir::DialectRegistry &registry);

  OperationPartitioner(mlir::sdy::MeshOp mesh, Options options)
      : mesh(mesh), options(options) {}

  /// It has a sharding rule, or is a constant, a reshard or a collective.
  static bool isComputation(mlir::Operation *op);
  /// Some tensor of the computation `op` is sharded on the mesh, and all can
  /// stand at the boundary of a manual computation.
  bool isEligible(mlir::Operation *op);
  /// Some tensor of `op` has axes that do not divide it.
  bool isUneven(mlir::Operation *op);
  bool isUneven(mlir::Type type, mlir::sdy::TensorShardingAttr sharding);

  /// Puts a manual computation in the place of the eligible `op`.
  llvm::LogicalResult partition(mlir::Operation *op);
  /// Puts `op`, which is element-wise, on padded tensors.
  void widen(mlir::Operation *op);
  /// A padded tensor that was sliced and padded again is itself: takes out the
  /// slices and pads that were made.
  void cancelPads();

private:
  mlir::sdy::TensorShardingAttr shardingOf(mlir::Value value);
  mlir::RankedTensorType getDivisible(mlir::Value value);
  mlir::OwningOpRef<mlir::ModuleOp> makeProgram(mlir::Operation *op);
  void embed(mlir::Operation *op, mlir::func::FuncOp local);
  mlir::Value pad(mlir::OpBuilder &builder, mlir::Value value);
  mlir::Value trim(mlir::OpBuilder &builder, mlir::OpResult result,
                   mlir::Value padded);

  mlir::sdy::MeshOp mesh;
  Options options;
  std::vector<mlir::stablehlo::PadOp> pads;
  std::vector<mlir::stablehlo::SliceOp> slices;
};

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_ALONEOPERATION_H
