//===- ReplicaGroups.cpp - which devices communicate ----------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/ReplicaGroups.h"

#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;

namespace shardonnay {

DeviceRows getReplicaGroups(const Mesh &mesh, const AxisList &axes) {
  DeviceRows rows;
  for (ArrayRef<int64_t> group : mesh.groups(axes))
    rows.push_back(llvm::map_to_vector(
        group, [&](int64_t position) { return mesh.deviceAt(position); }));
  return rows;
}

/// The number of the local shard that each device has, dims major to minor.
static std::vector<int64_t> shardsOf(AxesOnMesh sharded) {
  int64_t numDevices = sharded.mesh.numDevices();
  std::vector<int64_t> atPosition(numDevices), shards(numDevices);
  for (const AxisList &axes : sharded.axesPerDim)
    for (auto [shard, index] :
         llvm::zip_equal(atPosition, sharded.mesh.indices(axes)))
      shard = shard * axes.numShards() + index;
  for (auto [position, shard] : llvm::enumerate(atPosition))
    shards[sharded.mesh.deviceAt(static_cast<int64_t>(position))] = shard;
  return shards;
}

DeviceRows getSourceTargetPairs(AxesOnMesh source, AxesOnMesh target) {
  std::vector<int64_t> has = shardsOf(source), wants = shardsOf(target);
  int64_t numShards = 1;
  for (const AxisList &axes : source.axesPerDim)
    numShards *= axes.numShards();
  // For each shard: who has it, and who wants it, without those who do both.
  std::vector<SmallVector<int64_t>> senders(numShards), receivers(numShards);
  int64_t numDevices = static_cast<int64_t>(has.size());
  std::vector<int64_t> targets(numDevices);
  for (int64_t device = 0; device < numDevices; ++device) {
    targets[device] = device;
    if (has[device] == wants[device])
      continue;
    senders[has[device]].push_back(device);
    receivers[wants[device]].push_back(device);
  }
  for (auto [from, to] : llvm::zip_equal(senders, receivers))
    for (auto [sender, receiver] : llvm::zip_equal(from, to))
      targets[sender] = receiver;
  DeviceRows pairs;
  for (int64_t device = 0; device < numDevices; ++device)
    pairs.push_back({device, targets[device]});
  return pairs;
}

} // namespace shardonnay
