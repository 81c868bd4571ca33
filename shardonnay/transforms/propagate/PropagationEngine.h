//===- PropagationEngine.h - the hierarchy of strategies --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// User priority runs op priority for each round, op priority runs a strategy
// for each level of its ladder, a strategy is one or two sweeps, and a sweep
// visits ops until no visit is due, doing one step (FactorPropagation) on each.
//
// The order of visits decides conflicts, so it is part of the semantics. All
// ops are due at first, the first of the program first. When a visit changes
// tensors, operands before results, their neighbours become due: the last one
// made due is visited next. An op that is due already keeps its place, and an
// op is not made due by its own visit.
//
// The ladder, for each op the union of what its level and those before allow:
//   0. pass-through ops whose operands have no other use; dynamic slices too,
//      forward;
//   1. the same without that condition;
//   2. every op, along pass-through factors; broadcasts only backward;
//   3. every op, along all factors; broadcasts only backward;
//   4. everything.
//
// User priority: round p sees only dims of priority <= p. The others are
// emptied and closed, and their axes parked in `replicated`, so that nothing
// else on that tensor takes them. The ladder starts anew in each round.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONENGINE_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONENGINE_H

#include "shardonnay/transforms/propagate/PropagationGraph.h"

namespace shardonnay {

enum class PropagationStrategy : uint8_t {
  Basic,
  Aggressive,
  BasicThenAggressive
};

/// Both layers below user and op priority.
void propagate(PropagationGraph &graph, PropagationStrategy strategy);

/// The ladder of op priorities around `strategy`.
void propagateByOpPriority(PropagationGraph &graph,
                           PropagationStrategy strategy);

/// The rounds of user priorities around the ladder, or around `strategy` alone
/// if not `byOpPriority`.
void propagateByUserPriority(PropagationGraph &graph,
                             PropagationStrategy strategy, bool byOpPriority);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONENGINE_H
