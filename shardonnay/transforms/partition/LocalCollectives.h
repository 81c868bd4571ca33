//===- LocalCollectives.h - collectives on local types ----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PARTITION_LOCALCOLLECTIVES_H
#define SHARDONNAY_TRANSFORMS_PARTITION_LOCALCOLLECTIVES_H

#include "mlir/IR/Builders.h"
#include "shardonnay/algebra/Factor.h"
#include "shardonnay/algebra/Layout.h"
#include "shardonnay/transforms/partition/Placement.h"

namespace shardonnay {

/// What spmd.fetch_window is told of its dim.
struct Window {
  int64_t dim;
  int64_t globalSize;
  int64_t start, step, size;
  /// What shards the tensor, and what counts the windows.
  AxisList axes, windowAxes;
  bool periodic = false;
};

/// This device's `window` of `tensor`; `fill` may be null.
mlir::Value buildWindow(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value tensor, mlir::Value fill,
                        const Placer &placer, const Window &window);

/// The same, taken from a tensor that every device has whole along the window's
/// dim, which `tensor` is this device's shard of; null if it is of no such one.
mlir::Value buildWindowOfWhole(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value tensor, mlir::Value fill,
                               const Placer &placer, const Window &window);

/// Fills what stands behind the end of dims of reduction factors in `operands`
/// (local values) of `op`, so that it does not count. Fails with an error at
/// `op` where nothing does not count.
mlir::LogicalResult
neutralizePadding(mlir::OpBuilder &builder, mlir::Operation *op,
                  const FactorRule &rule, llvm::ArrayRef<AxisList> factorAxes,
                  llvm::MutableArrayRef<mlir::Value> operands,
                  const Placer &placer);

/// Builds the `spmd` ops that do on `operand` (a local value, of `layout`) what
/// the `sdy` collective `op` does on global types, one per dim that it touches,
/// and windows around it where shards do not divide. `placer` is of the mesh of
/// its result; a permute's operand may be on `sourceMesh` (else null). Emits an
/// error at `op` if it has no such form.
mlir::FailureOr<mlir::Value>
buildLocalCollective(mlir::Operation *op, mlir::Value operand,
                     const Layout &layout, const Placer &placer,
                     mlir::FlatSymbolRefAttr sourceMesh,
                     mlir::OpBuilder &builder);

/// This device's shard of `whole`, which every device holds.
mlir::Value buildShard(mlir::Value whole, const Layout &layout,
                       const Placer &placer, mlir::OpBuilder &builder,
                       mlir::Location loc);

/// The same, and where `layout` is of parts, the whole as the part of one
/// device. Emits an error if a part has no neutral element.
mlir::FailureOr<mlir::Value>
buildLocalShard(mlir::Value whole, const Layout &layout, const Placer &placer,
                mlir::OpBuilder &builder, mlir::Location loc);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PARTITION_LOCALCOLLECTIVES_H
