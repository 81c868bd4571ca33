//===- TripCount.h - how often an op runs -----------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ACCESS_TRIPCOUNT_H
#define SHARDONNAY_DIALECT_SDY_ACCESS_TRIPCOUNT_H

#include "mlir/IR/Operation.h"

namespace mlir::sdy {

/// The integer that a value is, also behind ops that only change its sharding;
/// nothing of what is no constant of one element.
std::optional<int64_t> readInteger(Value value);

/// How often something runs each time the function does.
struct Trips {
  /// At most kMostTrips.
  int64_t count = 1;
  /// Not where a loop around it runs an unknown number of times, which counts
  /// once.
  bool known = true;

  bool operator==(const Trips &o) const {
    return count == o.count && known == o.known;
  }
};

inline constexpr int64_t kMostTrips = int64_t{1} << 40;

/// The product of the trip counts of the loops around `op`, which need not be
/// partitioned yet.
Trips getTrips(Operation *op);

/// For a loop whose trip count is not known.
inline constexpr int64_t kAssumedTrips = 8;
/// How often one loop runs in one run of what is around it.
int64_t countTrips(Operation *loop);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ACCESS_TRIPCOUNT_H
