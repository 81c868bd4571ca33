//===- ReplicaGroups.cpp - which devices communicate ----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/ReplicaGroups.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

using llvm::ArrayRef;
using llvm::SmallVector;

namespace shardonnay {

DeviceRows getReplicaGroups(const Mesh &mesh, const AxisList &axes) {
  DeviceRows rows = mesh.groups(axes);
  if (!mesh.deviceIds().empty())
    for (SmallVector<int64_t> &row : rows)
      for (int64_t &device : row)
        device = mesh.deviceAt(device);
  return rows;
}

/// The number of the local shard that each device has, dims major to minor.
static std::vector<int64_t> shardsOf(AxesOnMesh sharded) {
  AxisList all;
  for (const AxisList &axes : sharded.axesPerDim)
    all.append(axes);
  std::vector<int64_t> atPosition = sharded.mesh.indices(all);
  if (sharded.mesh.deviceIds().empty())
    return atPosition;
  std::vector<int64_t> shards(atPosition.size());
  for (auto [position, shard] : llvm::enumerate(atPosition))
    shards[sharded.mesh.deviceAt(static_cast<int64_t>(position))] = shard;
  return shards;
}

/// `devices` by the shard that `shards` says of each, then as they are.
static std::vector<int64_t> byShard(ArrayRef<int64_t> devices,
                                    ArrayRef<int64_t> shards,
                                    int64_t numShards) {
  std::vector<int64_t> next(numShards + 1), ordered(devices.size());
  for (int64_t device : devices)
    ++next[shards[device] + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (int64_t device : devices)
    ordered[next[shards[device]]++] = device;
  return ordered;
}

DeviceRows getSourceTargetPairs(AxesOnMesh source, AxesOnMesh target) {
  std::vector<int64_t> has = shardsOf(source), wants = shardsOf(target);
  int64_t numShards = 1;
  for (const AxisList &axes : source.axesPerDim)
    numShards *= axes.numShards();
  int64_t numDevices = static_cast<int64_t>(has.size());
  std::vector<int64_t> targets(numDevices), moving;
  for (int64_t device = 0; device < numDevices; ++device) {
    targets[device] = device;
    if (has[device] != wants[device])
      moving.push_back(device);
  }
  // As many of them want a shard as have it.
  for (auto [sender, receiver] : llvm::zip_equal(
           byShard(moving, has, numShards), byShard(moving, wants, numShards)))
    targets[sender] = receiver;
  DeviceRows pairs(numDevices);
  for (auto [device, pair] : llvm::enumerate(pairs))
    pair = {static_cast<int64_t>(device), targets[device]};
  return pairs;
}

} // namespace shardonnay
