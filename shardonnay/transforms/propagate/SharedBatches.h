//===- SharedBatches.h - batches that devices share -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reshape that splits a sharded dim hands its axes on to the outer of the new
// dims. Where a loop takes one slice of that after the other it can make no use
// of them, and where they do not divide it a part of them is lost.
//
// Worked example, gradients of microbatches: the rows [48, features] are
// sharded by an axis of 8, a reshape makes [8, 6, features] or [6, 8, features]
// of them, and a loop takes one of the 8 or 6 in each run. So each device
// computes all microbatches whole, or sums what it has of each with the others.
// If the axis shards the rows of a microbatch each computes an eighth, for an
// all-to-all before the loop. (8 shards do not divide 6 rows: [8, 6, features]
// stays as it is.)
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_SHAREDBATCHES_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_SHAREDBATCHES_H

#include "shardonnay/transforms/propagate/PropagationGraph.h"

namespace shardonnay {

/// What a reshape makes, and a sharding with all the axes of the dim that it
/// splits on the rows of a batch, the inner one of the new dims.
struct SharedBatch {
  int32_t tensor;
  int32_t shardingId;
};

/// The results of such reshapes of which ops take slices of the outer dim at a
/// position, also where loops carry them: `carried` are the ops of `graph` that
/// pass on what loops carry, the initial value first. `given` and `propagated`
/// are ids of shardings, by tensor.
std::vector<SharedBatch> findSharedBatches(PropagationGraph &graph,
                                           llvm::ArrayRef<int32_t> carried,
                                           llvm::ArrayRef<int32_t> given,
                                           llvm::ArrayRef<int32_t> propagated);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_SHAREDBATCHES_H
