//===- EveryDevice.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/EveryDevice.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/interfaces/LocalCompute.h"

using namespace mlir;

LogicalResult shardonnay::verifyOnEveryDevice(Operation *op) {
  auto compute = dyn_cast<shardonnay::LocalComputeOpInterface>(op);
  if (compute && compute.namesDevices())
    return op->emitError("'")
           << op->getName()
           << "' speaks of single devices, of which there are none yet: move "
              "it into a manual computation, or write what it is for on the "
              "whole tensor";
  if (hasEffect<MemoryEffects::Write>(op) &&
      !(compute && (compute.hasEffectOnce() || compute.movesTo())))
    return op->emitError("'")
           << op->getName()
           << "' has an effect, which every device would have: give it a "
              "sharding on one device, or move it into a manual computation";
  return success();
}

LogicalResult shardonnay::verifyDeviceCount(Operation *mesh, int64_t devices) {
  constexpr int64_t kMaxDevices = int64_t{1} << 20;
  if (devices <= kMaxDevices)
    return success();
  return mesh->emitError("expected a mesh of at most ")
         << kMaxDevices << " devices, got " << devices;
}
