//===- ReshardBound.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/ReshardBound.h"

#include "shardonnay/algebra/Counts.h"
#include <algorithm>
#include <cmath>

namespace shardonnay {

/// Steps of collectives over `groups` devices in all; less what logarithms are
/// rounded by.
static int64_t rounds(double groups) {
  return static_cast<int64_t>(std::ceil(std::log2(groups) - 1e-9));
}

void ReshardExtent::addDim(int64_t size, int64_t sourceShards,
                           int64_t targetShards, bool nested) {
  // Divisions are most of what a bound takes, and most dims have no shards.
  int64_t source = sourceShards == 1 ? size : size / sourceShards;
  int64_t target = sourceShards == targetShards ? source : size / targetShards;
  sourceElements = countProduct(sourceElements, source);
  targetElements = countProduct(targetElements, target);
  overlap = countProduct(overlap, nested ? std::min(source, target) : 0);
  if (sourceShards <= targetShards)
    return;
  int64_t ratio = sourceShards / targetShards;
  shards *= ratio;
  if (ratio > 1)
    gatherSteps += 1 + llvm::Log2_64_Ceil(ratio);
}

LeastCost leastCost(const ReshardExtent &extent) {
  if (extent.targetElements == 0)
    return {};
  double here = extent.sourceElements, there = extent.targetElements;
  double parts = extent.parts, shards = extent.shards;
  if (extent.parts == 1) {
    double lacking = there - extent.overlap;
    return lacking > 0
               ? LeastCost{lacking, std::max<int64_t>(extent.gatherSteps, 2)}
               : LeastCost();
  }
  double scattered = std::min(parts, std::max(here / there, 1.0));
  double gathered = std::max(there / here, 1.0);
  int64_t settling = rounds(parts * parts / scattered * gathered);
  int64_t collectives = gathered > 1 ? 2 : 1;
  return {there + (parts - 2) * extent.elementsPerDevice,
          collectives + std::max(settling, rounds(parts * shards))};
}

} // namespace shardonnay
