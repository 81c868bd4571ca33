//===- LocalSearch.h - values that are resharded once for all ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops choose their strategies one at a time, each as if it paid for all that it
// has resharded. So it is not seen that several uses of a value pay for one
// reshard together, nor that the value might be sharded as is best between what
// makes it and what uses it. Here the values around which something is
// resharded are looked at once, the last one first: of the shardings that the
// ops around it would have it in, and of none at all, which is cheapest for all
// of them, either
//   * for the value itself, or
//   * for a copy, which those that have it resharded share.
// The ops choose anew for each; what they reshard is counted once where it is
// the same, with what fixed uses need, and not at all where it is an operand of
// the producer that others have so anyway. No op may repeat work for it.
//
// What moves from one chain of ops to another may have to move as a whole. So
// the values are looked at twice more, the first one first and then the last
// one first, and of equal prices that is taken which brings what is resharded
// nearer to the users, and then to the producers; if this saved nothing it is
// taken back. Of the states before, between and after, that one stays in which
// the block as a whole is cheapest.
//
// A value may have a price for each byte that a device holds of it, because
// more is alive with it than there is memory for. Then it is looked at whether
// or not something is resharded around it, and is also tried with every axis
// that it does not use.
//
// Worked example, a weight w [32, 8] sharded by 8, in four dots with
// activations whose batch is sharded by 8: to each dot alone it is cheaper to
// reshard its activation (600 bytes) than to gather the weight (900); to all
// four of them, to gather it once.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_LOCALSEARCH_H
#define SHARDONNAY_STRATEGY_LOCALSEARCH_H

#include "shardonnay/strategy/SearchMemo.h"
#include "shardonnay/strategy/StrategyState.h"

namespace shardonnay {

/// `arguments` are the values of the block's arguments. `memo` is what searches
/// with the same table found before.
void searchLocally(StrategyState &state, llvm::ArrayRef<int32_t> arguments,
                   SearchMemo &memo);

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_LOCALSEARCH_H
