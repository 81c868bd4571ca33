//===- WindowMessages.h - what windows of one tensor share ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Different windows of one dim may need the same of the neighbours: `x[1::2]`
// and `x[2::2]` both fetch the neighbour's first row. The program of a device
// has each round of exchanges (WindowPlan.h) once, as equal ops are one.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_WINDOWMESSAGES_H
#define SHARDONNAY_PLAN_WINDOWMESSAGES_H

#include "shardonnay/plan/LocalCollective.h"
#include <optional>
#include <set>
#include <vector>

namespace shardonnay {

/// The messages that fetch the windows of one dim of one tensor.
class WindowMessages {
public:
  /// windowCollective of the problem without the messages that windows before
  /// sent; nothing if there is no other.
  std::optional<LocalCollective> add(const WindowProblem &problem,
                                     int64_t sliceBytes);
  /// The whole dim is gathered, for no window. False if that was sent before.
  bool addGather(const AxisList &axes);

private:
  /// A gather, or a round of exchanges, in numbers.
  using Message = std::vector<int64_t>;

  /// Remembers the messages of the problem. Returns what those of them take
  /// that were known, in positions of the dim.
  LocalCollective send(const WindowProblem &problem);
  /// Sends what is unplanned.
  void plan();

  /// Plans are made when a second problem asks: most dims have one.
  std::optional<WindowProblem> unplanned;
  std::set<Message> known;
};

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_WINDOWMESSAGES_H
