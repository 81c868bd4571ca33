//===- DeviceGrid.h - a mesh on replicas and partitions ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine runs a program on R replicas of P partitions and calls the device
// of replica r and partition p r * P + p (the *flattened id*). The N devices of
// a mesh are
//   * one replica's partitions (N = P; every replica runs the same),
//   * the replicas (N = R, P = 1), or
//   * all devices (N = R * P), by their flattened ids.
//
// What StableHLO calls devices in groups depends on the op: all_reduce,
// all_gather and reduce_scatter name flattened ids; all_to_all and
// collective_permute name partitions (with a channel; every replica does the
// same) or replicas (without one; every partition does the same), never both.
//
// Worked example: on 2 replicas of 2 partitions a mesh ["x"=2] of partitions
// reduces along x in groups [[0, 1], [2, 3]] and permutes by pairs of 0 and 1;
// a mesh ["x"=2, "y"=2] of all devices reduces along x in groups
// [[0, 2], [1, 3]], and permutes along it by pairs of replicas 0 and 1.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_DEVICEGRID_H
#define SHARDONNAY_EMIT_DEVICEGRID_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace shardonnay {

/// Devices by rows; all rows of one length.
using DeviceRows = llvm::SmallVector<llvm::SmallVector<int64_t>>;

class DeviceGrid {
public:
  /// What the ids in a collective mean.
  enum class Ids { Flattened, Partitions, Replicas };
  struct Communication {
    Ids ids;
    DeviceRows rows;
  };

  /// One replica, a partition for each of `meshDevices`.
  explicit DeviceGrid(int64_t meshDevices)
      : meshDevices(meshDevices), numReplicas(1), numPartitions(meshDevices) {}
  /// Nothing if a mesh of `meshDevices` is none of the three above. 1 replica
  /// and 1 partition stand for a partition for each device.
  static std::optional<DeviceGrid> get(int64_t meshDevices, int64_t replicas,
                                       int64_t partitions);

  int64_t replicas() const { return numReplicas; }
  int64_t partitions() const { return numPartitions; }
  /// The ids that the running device's place in the mesh is made of.
  Ids place() const;

  /// Groups of mesh devices for an op that names flattened ids.
  DeviceRows flattened(DeviceRows groups) const;
  /// Groups or pairs of mesh devices for an op that names partitions or
  /// replicas; nothing if neither can say it.
  std::optional<Communication> oneKind(DeviceRows rows) const;

private:
  int64_t meshDevices;
  int64_t numReplicas;
  int64_t numPartitions;
};

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_DEVICEGRID_H
