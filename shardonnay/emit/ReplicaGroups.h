//===- ReplicaGroups.h - which devices communicate --------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_REPLICAGROUPS_H
#define SHARDONNAY_EMIT_REPLICAGROUPS_H

#include "shardonnay/algebra/Mesh.h"
#include "shardonnay/emit/DeviceGrid.h"

namespace shardonnay {

/// The groups of mesh devices that differ only along `axes`: a row for each
/// group, its members in the order of their index along `axes`.
DeviceRows getReplicaGroups(const Mesh &mesh, const AxisList &axes);

/// A mesh, and axes of it per dim of a tensor.
struct AxesOnMesh {
  const Mesh &mesh;
  llvm::ArrayRef<AxisList> axesPerDim;
};

/// Who sends to whom, rows of [source, target] devices, so that a device gets
/// the shard of a tensor that `target` names from one that has it as the shard
/// of `source`: itself if it can, and no device sends twice. The meshes are of
/// the same devices, and both make the same shards.
DeviceRows getSourceTargetPairs(AxesOnMesh source, AxesOnMesh target);

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_REPLICAGROUPS_H
