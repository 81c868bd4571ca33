//===- GivenCarries.h - loops that carry what was given ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Propagation gives what a loop carries the axes of what it meets in the loop.
// Where a result of the loop was given fewer axes it is gathered behind the
// loop, all of it, though the loop may have written a few rows.
//
// Worked example, decoding with a cache [layers, batch, positions, features]
// that is given whole, and tokens that are sharded by the batch: a loop over
// layers writes one position of each, which propagation shards by the batch,
// and the cache of all layers is gathered behind it. If the loop carries the
// cache whole, as it was given, it gathers what it writes: one position.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_GIVENCARRIES_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_GIVENCARRIES_H

#include "shardonnay/transforms/propagate/PropagationGraph.h"

namespace shardonnay {

/// What a loop carries, or makes of that for its next run, and the sharding
/// that it was given outside of the loop.
struct GivenCarry {
  int32_t tensor;
  /// Closed in all dims.
  int32_t shardingId;
  bool isCarried;
};

/// What the loops carry from a value that was given a sharding, or to one, if
/// propagation has sharded it otherwise; ops that only move elements may stand
/// between, or change them one by one. With it what such ops make of it in a
/// run on the way to the next one. Empty if no loop carries what has more
/// shards as propagated than it was given behind the loop. `carried` are the
/// ops of `graph` that pass on what loops carry: the initial value first.
/// `given` and `propagated` are ids of shardings, by tensor.
std::vector<GivenCarry> findGivenCarries(PropagationGraph &graph,
                                         llvm::ArrayRef<int32_t> carried,
                                         llvm::ArrayRef<int32_t> given,
                                         llvm::ArrayRef<int32_t> propagated);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_GIVENCARRIES_H
