//===- EveryDevice.h - what all devices can run -----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_EVERYDEVICE_H
#define SHARDONNAY_INTERFACES_EVERYDEVICE_H

#include "mlir/IR/Operation.h"

namespace shardonnay {

/// Outside of manual computations all devices run `op` together: an error there
/// if it would have its effect several times, or speaks of single devices.
llvm::LogicalResult verifyOnEveryDevice(mlir::Operation *op);

/// An error at `mesh` if programs can't list so many devices.
llvm::LogicalResult verifyDeviceCount(mlir::Operation *mesh, int64_t devices);

} // namespace shardonnay

#endif // SHARDONNAY_INTERFACES_EVERYDEVICE_H
