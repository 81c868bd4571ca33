//===- ReplicaGroups.cpp - which devices communicate ----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/ReplicaGroups.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace shardonnay {

DenseIntElementsAttr buildReplicaGroups(Builder &builder, const Mesh &mesh,
                                        const AxisList &axes) {
  SmallVector<int64_t> devices;
  for (llvm::ArrayRef<int64_t> group : mesh.groups(axes))
    for (int64_t position : group)
      devices.push_back(mesh.deviceAt(position));
  int64_t size = axes.numShards();
  auto numGroups = static_cast<int64_t>(devices.size()) / size;
  auto type =
      RankedTensorType::get({numGroups, size}, builder.getIntegerType(64));
  return DenseIntElementsAttr::get(type, devices);
}

} // namespace shardonnay
