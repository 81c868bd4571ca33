//===- PropagationEngine.h - the hierarchy of strategies --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// User priority runs op priority for each round, op priority runs a strategy
// for each level of op priority, a strategy is one or two sweeps, and a sweep
// visits ops until none is enqueued, doing one step (FactorPropagation) a time.
//
// The order of visits decides conflicts, so it is part of the semantics. All
// ops are enqueued at first, the first of the program first. When a visit
// changes tensors, operands before results, their neighbours are enqueued: the
// last one enqueued is visited next. An op that is enqueued already keeps its
// place, and an op is not enqueued by its own visit.
//
// The levels, for each op the union of what its level and those before allow:
//   0. pass-through ops whose operands have no other use; dynamic slices too,
//      forward;
//   1. the same without that condition;
//   2. every op, along pass-through factors; broadcasts only backward;
//   3. every op, along all factors; broadcasts only backward;
//   4. everything.
//
// User priority: round p sees only dims of priority <= p. The others are
// emptied and closed, and their axes parked in `replicated`, so that nothing
// else on that tensor takes them. Each round begins anew at the first level.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONENGINE_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONENGINE_H

#include "shardonnay/transforms/propagate/PropagationGraph.h"
#include "shardonnay/transforms/propagate/StepMemo.h"

namespace shardonnay {

enum class PropagationStrategy : uint8_t {
  Basic,
  Aggressive,
  BasicThenAggressive
};

/// The levels of op priority; Everything where there are no levels. The last
/// two are the sweeps of propagateBackwardForward.
enum class OpPriorityLevel : uint8_t {
  OnlyUsers,
  PassThroughOps,
  PassThroughFactors,
  AllFactors,
  Everything,
  FromResults,
  FromAll,
};

/// What one visit did to an op. By tensor of the op, operands first; rows are
/// as the op's rule sees them.
struct PropagationVisit {
  /// An index into graph.ops(), or into graph.returns().
  int32_t op;
  bool isReturn;
  /// The user priority whose turn it is.
  int64_t round;
  OpPriorityLevel level;
  bool aggressive;
  llvm::ArrayRef<TensorProjection> before, after;
  /// The ids of the new shardings; kNone where nothing changes.
  llvm::ArrayRef<int32_t> newShardings;
  /// At the level of the visit: what is refused for now may come later.
  llvm::ArrayRef<Refusal> refusals;
};

/// Is told of every visit. Where there is none, that costs nothing.
class PropagationSink {
public:
  virtual ~PropagationSink() = default;
  /// Before the changes are made, if there are any. False leaves them out.
  virtual bool visit(const PropagationGraph &graph,
                     const PropagationVisit &visit) = 0;
};

/// Both layers below user and op priority.
void propagate(PropagationGraph &graph, PropagationStrategy strategy,
               PropagationSink *sink = nullptr);

/// The levels of op priority around `strategy`.
void propagateByOpPriority(PropagationGraph &graph,
                           PropagationStrategy strategy,
                           PropagationSink *sink = nullptr);

/// The rounds of user priorities around the levels, or around `strategy` alone
/// if not `byOpPriority`. A memo is of this graph alone, and saves the steps of
/// runs before.
void propagateByUserPriority(PropagationGraph &graph,
                             PropagationStrategy strategy, bool byOpPriority,
                             PropagationSink *sink = nullptr,
                             StepMemo *memo = nullptr);

/// The schedule of the Mesh dialect's design: in each round of user priorities
/// one sweep from the last op to the first, in which operands take what results
/// have, and one from the first to the last, in which all take of all. Each op
/// is visited once a sweep, whatever changes behind it.
void propagateBackwardForward(PropagationGraph &graph,
                              PropagationSink *sink = nullptr,
                              StepMemo *memo = nullptr);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_PROPAGATIONENGINE_H
