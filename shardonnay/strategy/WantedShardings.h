//===- WantedShardings.h - values as their uses want them -------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Propagation may give a value a sharding that no use of it can keep: each
// reshards it, all to the same one. Then that is the sharding to ask of the op
// that makes it, or the op would choose its factors' axes for a layout that
// nothing sees.
//
// So it is of what the user constrained: where nothing reads it in the
// constraint's sharding, that would be made and given up at once.
//
// Worked example, FSDP with a batch smaller than the width: dh = dy wT of
// shardings [{d}, {}], [{}, {d}] (the weight's) -> [{}, {d}], used by
// element-wise ops on [{d}, {}]. Asked for [{d}, {}], the dot gathers the
// weight and not dy.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_WANTEDSHARDINGS_H
#define SHARDONNAY_STRATEGY_WANTEDSHARDINGS_H

#include "shardonnay/strategy/StrategyState.h"

namespace shardonnay {

/// An op's operand.
struct OperandPlace {
  int32_t op;
  int32_t operand;
};

/// Gives every result of an op with a strategy, and of a reshard, the one
/// sharding that all its uses need it in, if there is one; last op first. A
/// gather then stands at the op that makes the value: returned are the uses
/// that it is there for, whose ops need a dim whole that propagation had
/// sharded.
std::vector<OperandPlace> adoptWantedShardings(StrategyState &state);

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_WANTEDSHARDINGS_H
