//===- UnevenSplits.h - batches that devices do not divide ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reshape that splits a sharded dim hands its axes on to the outer of the new
// dims. Where the axes do not divide that, the rest is lost.
//
// Worked example, gradients of microbatches: the rows [48, features] are
// sharded by an axis of 8, a reshape makes [6, 8, features] of them, and a loop
// takes one of the six in each run. 6 has a half of the axis at most, of which
// the loop can make no use, and so each device computes all microbatches whole.
// If the axis shards the rows of a microbatch each computes an eighth, for an
// all-to-all before the loop.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_UNEVENSPLITS_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_UNEVENSPLITS_H

#include "shardonnay/transforms/propagate/PropagationGraph.h"

namespace shardonnay {

/// What a reshape makes, and a sharding with all the axes of the dim that it
/// splits on the inner one of the new dims.
struct UnevenSplit {
  int32_t tensor;
  int32_t shardingId;
};

/// The results of such reshapes of which ops take slices at a position, also
/// where loops carry them: `carried` are the ops of `graph` that pass on what
/// loops carry, the initial value first. `given` and `propagated` are ids of
/// shardings, by tensor.
std::vector<UnevenSplit> findUnevenSplits(PropagationGraph &graph,
                                          llvm::ArrayRef<int32_t> carried,
                                          llvm::ArrayRef<int32_t> given,
                                          llvm::ArrayRef<int32_t> propagated);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_UNEVENSPLITS_H
