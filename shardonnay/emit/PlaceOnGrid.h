//===- PlaceOnGrid.h - ids of devices, among replicas -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program says of single devices (in what were manual computations) is
// written for one replica, with a partition for each device of the mesh. On
// replicas these are other ids, see DeviceGrid.h: an all_reduce among the
// partitions 0 and 1 is one among those of each replica, if every replica has
// the mesh; and a partition_id is the flattened id, if the mesh has all.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_PLACEONGRID_H
#define SHARDONNAY_EMIT_PLACEONGRID_H

#include "mlir/IR/BuiltinOps.h"
#include "shardonnay/emit/DeviceGrid.h"

namespace shardonnay {

/// Fails with an error at an op that neither partitions nor replicas can state.
mlir::LogicalResult placeOnGrid(mlir::ModuleOp module, const DeviceGrid &grid);

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_PLACEONGRID_H
