//===- Collective.h - the price of one collective ---------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a collective costs a device, as a function of its kind, the size n of
// its groups and the bytes B that each device puts in. Bytes are those that one
// device sends (and as many it receives) under the bandwidth-optimal (ring)
// algorithms; steps count latency, under tree algorithms and with one for the
// launch.
//
//   kind            bytes           steps
//   slice           0               0
//   permute         B               2
//   all_gather      B (n - 1)       1 + ceil(log2 n)
//   all_to_all      B (n - 1) / n   1 + ceil(log2 n)
//   reduce_scatter  B (n - 1) / n   1 + ceil(log2 n)
//   all_reduce      2 B (n - 1) / n 1 + 2 ceil(log2 n)
//
// Two collectives of one kind over axes of sizes n and m have at least the
// bytes, and always more steps, than the merged one over both.
//
// The planner and the report of emitted collectives both count by
// `collectiveCost`, so that they agree. DeviceModel.h turns counts into a
// price.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_COST_COLLECTIVE_H
#define SHARDONNAY_COST_COLLECTIVE_H

#include "shardonnay/algebra/Counts.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace shardonnay {

/// The ways to change a layout. Slice takes this device's part of what it has:
/// no communication. Permute sends a device's data, whole, to one other device.
enum class CollectiveKind : uint8_t {
  Slice,
  Permute,
  AllToAll,
  AllGather,
  ReduceScatter,
  AllReduce,
};

/// "slice", "all_to_all", and so on.
llvm::StringRef toString(CollectiveKind kind);

/// What communication costs one device, in counts. Costs of a sequence add.
struct Cost {
  int64_t bytes = 0;
  int64_t steps = 0;

  Cost &operator+=(const Cost &other) {
    bytes = countSum(bytes, other.bytes);
    steps = countSum(steps, other.steps);
    return *this;
  }
  bool operator==(const Cost &o) const {
    return bytes == o.bytes && steps == o.steps;
  }
};

/// The cost of one collective over groups of `groupSize` >= 1 devices, each of
/// which puts in `inputBytes`. Bytes are rounded up; nothing for a group of 1.
Cost collectiveCost(CollectiveKind kind, int64_t groupSize, int64_t inputBytes);

} // namespace shardonnay

#endif // SHARDONNAY_COST_COLLECTIVE_H
