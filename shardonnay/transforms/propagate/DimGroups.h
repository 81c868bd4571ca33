//===- DimGroups.h - the dims that are sharded together ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two dims are in one group if some op has the same factor in both, or if the
// user wants their tensors sharded alike (sharding groups): a sharding of one
// of them would reach all of the group if nothing was in its way. In a training
// step the batch is a group, the features are one, the hidden units another.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_DIMGROUPS_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_DIMGROUPS_H

#include "shardonnay/transforms/propagate/PropagationGraph.h"
#include "llvm/ADT/IntEqClasses.h"

namespace shardonnay {

class DimGroups {
public:
  explicit DimGroups(const PropagationGraph &graph);

  /// Groups are numbered from 0.
  int32_t groupOf(int32_t tensor, int64_t dim) const {
    return groups[firstDims[tensor] + dim];
  }
  int32_t size() const { return groups.getNumClasses(); }

private:
  void join(const OpArray &ops, const PropagationGraph &graph);

  /// By tensor.
  std::vector<int32_t> firstDims;
  llvm::IntEqClasses groups;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_DIMGROUPS_H
