//===- SingleDevice.h - what is on one device -------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ACCESS_SINGLEDEVICE_H
#define SHARDONNAY_DIALECT_SDY_ACCESS_SINGLEDEVICE_H

#include "shardonnay/dialect/sdy/Attributes.h"

namespace mlir::sdy {

/// The device of a sharding on one (a maximal mesh); nothing for others, and
/// for null. `from` resolves the mesh.
std::optional<int64_t> getSingleDevice(Operation *from,
                                       TensorShardingAttr sharding);

/// The device that `op`, by the sharding it has or asks for, is to run on.
std::optional<int64_t> getSingleDevice(Operation *op);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ACCESS_SINGLEDEVICE_H
