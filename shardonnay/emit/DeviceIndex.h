//===- DeviceIndex.h - a device's index as arithmetic -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The index of a position along axes is the sum of its digits: one for each
// axis, p / stride mod size, times the product of the sizes of the axes minor
// to it. Axes that are neighbours in the mesh, in mesh order, are one digit.
//
// Worked example: on the mesh ["x"=2, "y"=4] the index along {"y", "x"} is
// (p mod 4) * 2 + p / 4; along {"x", "y"} it is p.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_DEVICEINDEX_H
#define SHARDONNAY_EMIT_DEVICEINDEX_H

#include "mlir/IR/Builders.h"
#include "shardonnay/algebra/Mesh.h"
#include "shardonnay/emit/DeviceGrid.h"

namespace shardonnay {

/// The index of the running device along `axes` of `mesh`, whose devices are
/// those of `grid`, times `scale`: a StableHLO tensor<i32>, or tensor<i64>
/// where it may be larger.
mlir::Value buildDeviceIndex(mlir::OpBuilder &builder, mlir::Location loc,
                             const DeviceGrid &grid, const Mesh &mesh,
                             const AxisList &axes, int64_t scale = 1);

/// The running device, as meshes on `grid` number it: a StableHLO tensor<i32>.
mlir::Value buildDeviceId(mlir::OpBuilder &builder, mlir::Location loc,
                          const DeviceGrid &grid);

/// values[index], of a tensor<i32> `index` that is in range: a tensor<i32>, or
/// tensor<i64> where some value is larger.
mlir::Value buildLookUp(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::ArrayRef<int64_t> values, mlir::Value index);

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_DEVICEINDEX_H
