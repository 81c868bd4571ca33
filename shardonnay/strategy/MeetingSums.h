//===- MeetingSums.h - one reduction for what is added up -------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where values are added up of which one is left in parts, the reduction of the
// others is free if they are left in the same parts: a sum is reduced once,
// behind the addition (transforms/reshard/DeferReductions.cpp). No op sees that
// by itself, as each pays for the reduction of its own result. So here the ops
// whose results meet in additions, also behind ops that are linear, are asked
// what they would do if nobody had to reduce these.
//
// Worked example, a table of words that is looked up in and read by the logits'
// dot, in data parallelism: its gradient is a dot's partial sum and what a
// scatter makes. Alone, the scatter moves its updates to compute whole columns;
// in parts it moves nothing.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_MEETINGSUMS_H
#define SHARDONNAY_STRATEGY_MEETINGSUMS_H

#include "shardonnay/strategy/StrategyState.h"

namespace shardonnay {

/// Through how many ops a value is looked for that may be left in parts.
inline constexpr int kMeetingReach = 4;

/// Ops leave their results in parts where these meet others in such parts, and
/// the ops alone cost less.
void joinSums(StrategyState &state);

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_MEETINGSUMS_H
