//===- SingleDevice.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/SingleDevice.h"

#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"

namespace mlir::sdy {

std::optional<int64_t> getSingleDevice(Operation *from,
                                       TensorShardingAttr sharding) {
  // On one device a sharding has no dims (C20).
  if (!sharding || !sharding.getDimShardings().empty())
    return std::nullopt;
  MeshAttr mesh = getMesh(from, sharding);
  if (!mesh || !mesh.isMaximal())
    return std::nullopt;
  return mesh.getDeviceIds().front();
}

std::optional<int64_t> getSingleDevice(Operation *op) {
  if (auto constraint = dyn_cast<ShardingConstraintOp>(op))
    return getSingleDevice(op, constraint.getSharding());
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return getSingleDevice(op, reshard.getSharding());
  auto all = op->getAttrOfType<TensorShardingPerValueAttr>(kShardingAttr);
  if (!all || all.getShardings().empty())
    return std::nullopt;
  return getSingleDevice(op, all.getShardings().front());
}

} // namespace mlir::sdy
