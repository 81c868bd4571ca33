//===- DimGroups.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/DimGroups.h"
#include "llvm/ADT/Sequence.h"

namespace shardonnay {

DimGroups::DimGroups(const PropagationGraph &graph) {
  int32_t numDims = 0;
  for (int32_t tensor : llvm::seq(graph.numTensors())) {
    firstDims.push_back(numDims);
    numDims += graph.sharding(tensor).dims.size();
  }
  groups.grow(numDims);
  join(graph.ops(), graph);
  join(graph.returns(), graph);
  for (int32_t tensor : llvm::seq(graph.numTensors()))
    for (int32_t member : graph.groupOf(tensor))
      for (size_t dim : llvm::seq(graph.sharding(tensor).dims.size()))
        groups.join(firstDims[tensor] + dim, firstDims[member] + dim);
  groups.compress();
}

/// A dim of several factors is sharded by the major one first.
void DimGroups::join(const OpArray &ops, const PropagationGraph &graph) {
  std::vector<int32_t> dimOfFactor;
  for (int32_t op : llvm::seq(ops.size())) {
    const FactorRule &rule = *graph.form(ops.form(op)).rule;
    dimOfFactor.assign(rule.factors.size(), kNone);
    for (auto [i, tensor] : llvm::enumerate(ops.tensors(op))) {
      if (tensor == kNone)
        continue;
      for (auto [dim, factors] : llvm::enumerate(rule.tensor(i).dims)) {
        int32_t number = firstDims[tensor] + dim;
        int32_t &other = dimOfFactor[factors.front()];
        if (other == kNone)
          other = number;
        else
          groups.join(other, number);
      }
    }
  }
}

} // namespace shardonnay
