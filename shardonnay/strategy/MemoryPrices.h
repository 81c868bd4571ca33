//===- MemoryPrices.h - what a byte costs where memory is short -*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Lagrangian: what a device holds too much of has a price, so that the plan
// which is the cheapest with these prices holds less of it. Only the prices of
// ops whose results are alive at a peak move.
//
// 1. Plan. While the plan holds too much, the ops whose results are alive at
//    its peak get a price for each byte of them, or twice the price that they
//    have.
// 2. Where the first plan within the limit is so only as later stages send
//    something again, higher prices may be cheaper: they go on to rise until
//    kMostDearer plans in turn are not the cheapest.
//    Of the cheapest plan within the limit, prices are taken off again, of half
//    of the ops, a quarter and so on, where the plan stays within it and costs
//    less.
// 3. Without a plan within the limit, the prices of the plan that holds least;
//    none where arguments and results alone are above the limit, since what
//    can't be met is no reason to send more.
//
// How a program is planned is the caller's: what a device holds in the end is
// decided by later stages too, which rematerialize values and share buffers.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_MEMORYPRICES_H
#define SHARDONNAY_STRATEGY_MEMORYPRICES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace shardonnay {

/// A program as it is planned under some prices.
struct PricedPlan {
  /// The most bytes that a device holds at once.
  int64_t peak = 0;
  /// The part of them that no plan changes: arguments and results.
  int64_t held = 0;
  /// What its collectives cost in byte times, without the prices of memory.
  double cost = 0;
  /// Something is sent more than once, to hold less.
  bool sendsAgain = false;
  /// The numbers of the ops whose results are alive at the peak.
  llvm::SmallVector<int64_t> producers;
};

/// Plans with a price for each op, by its number, in byte times for a byte that
/// a device holds of its results; nothing where the program can't be planned.
using PlanWithPrices =
    llvm::function_ref<std::optional<PricedPlan>(llvm::ArrayRef<double>)>;

/// The prices of `numOps` ops with which no more than `limit` bytes are held,
/// after at most `mostPlans` plans; nothing where a first plan can't be made.
std::optional<std::vector<double>> findMemoryPrices(size_t numOps,
                                                    int64_t limit,
                                                    int mostPlans,
                                                    PlanWithPrices plan);

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_MEMORYPRICES_H
