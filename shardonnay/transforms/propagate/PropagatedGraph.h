//===- PropagatedGraph.h - a graph of the tests of searches -----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For unit tests of what is found in a graph that was propagated.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATEDGRAPH_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATEDGRAPH_H

#include "shardonnay/transforms/propagate/PropagationEngine.h"

namespace shardonnay {

struct PropagatedGraph {
  PropagationGraph graph;
  /// Ids of shardings, by tensor.
  std::vector<int32_t> given, propagated;

  OpSignature passing(const FactorRule &rule,
                      PropagationClass as = PropagationClass::PassThrough) {
    OpSignature form;
    form.rule = graph.keep(rule);
    form.propagationClass = as;
    return form;
  }
  int32_t tensor(const TensorSharding &sharding, int32_t mesh = kNone) {
    return graph.addTensor(graph.intern({sharding, mesh}));
  }
  /// Behind the last op.
  void propagate() {
    graph.connect();
    given = shardings();
    propagateByUserPriority(graph, PropagationStrategy::Aggressive, true);
    propagated = shardings();
  }

private:
  std::vector<int32_t> shardings() const {
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < graph.numTensors(); ++i)
      ids.push_back(graph.shardingId(i));
    return ids;
  }
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATEDGRAPH_H
