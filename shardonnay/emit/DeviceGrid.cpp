//===- DeviceGrid.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/DeviceGrid.h"

#include "llvm/ADT/STLExtras.h"
#include <map>

namespace shardonnay {

std::optional<DeviceGrid> DeviceGrid::get(int64_t meshDevices, int64_t replicas,
                                          int64_t partitions) {
  DeviceGrid grid(meshDevices);
  if (replicas == 1 && partitions == 1)
    return grid;
  if (replicas < 1 || partitions < 1 ||
      (meshDevices != partitions && meshDevices != replicas * partitions))
    return std::nullopt;
  grid.numReplicas = replicas;
  grid.numPartitions = partitions;
  return grid;
}

DeviceGrid::Ids DeviceGrid::place() const {
  if (meshDevices == numPartitions)
    return Ids::Partitions;
  return numPartitions == 1 ? Ids::Replicas : Ids::Flattened;
}

DeviceRows DeviceGrid::flattened(DeviceRows groups) const {
  if (place() != Ids::Partitions || numReplicas == 1)
    return groups;
  DeviceRows rows;
  for (int64_t replica = 0; replica < numReplicas; ++replica)
    for (llvm::ArrayRef<int64_t> group : groups)
      rows.push_back(llvm::map_to_vector(group, [&](int64_t partition) {
        return replica * numPartitions + partition;
      }));
  return rows;
}

/// `rows` with `name` instead of each id, if each is in one class of ids and
/// all of the `numClasses` classes have the same ones.
static std::optional<DeviceRows>
sameInAll(const DeviceRows &rows, int64_t numClasses,
          llvm::function_ref<int64_t(int64_t)> classOf,
          llvm::function_ref<int64_t(int64_t)> name) {
  std::map<int64_t, DeviceRows> byClass;
  for (llvm::ArrayRef<int64_t> row : rows) {
    int64_t first = classOf(row.front());
    if (!llvm::all_of(row, [&](int64_t id) { return classOf(id) == first; }))
      return std::nullopt;
    byClass[first].push_back(llvm::map_to_vector(row, name));
  }
  if (static_cast<int64_t>(byClass.size()) != numClasses)
    return std::nullopt;
  for (auto &[key, named] : byClass) {
    llvm::sort(named);
    if (named != byClass.begin()->second)
      return std::nullopt;
  }
  return byClass.begin()->second;
}

std::optional<DeviceGrid::Communication>
DeviceGrid::oneKind(DeviceRows rows) const {
  if (rows.empty() || place() != Ids::Flattened)
    return Communication{place(), std::move(rows)};
  auto replica = [&](int64_t id) { return id / numPartitions; };
  auto partition = [&](int64_t id) { return id % numPartitions; };
  if (auto found = sameInAll(rows, numReplicas, replica, partition))
    return Communication{Ids::Partitions, *found};
  if (auto found = sameInAll(rows, numPartitions, partition, replica))
    return Communication{Ids::Replicas, *found};
  return std::nullopt;
}

} // namespace shardonnay
