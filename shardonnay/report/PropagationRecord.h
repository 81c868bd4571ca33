//===- PropagationRecord.h - why every axis is where it is ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What propagation decided, written down as it decided: for each axis of each
// dim of each tensor where it came from, and for each axis that an op offered
// and a tensor did not take, what was in the way. Tensors and ops are numbers
// of the propagation graph. All debugging output is made from this: attributes,
// remarks, `shardonnay explain`.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_REPORT_PROPAGATIONRECORD_H
#define SHARDONNAY_REPORT_PROPAGATIONRECORD_H

#include "shardonnay/algebra/AxisList.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace shardonnay {

/// An op of the graph, or what stands for a result of a function.
struct GraphPlace {
  int32_t op = -1;
  bool isReturn = false;

  bool operator==(const GraphPlace &o) const {
    return op == o.op && isReturn == o.isReturn;
  }
};

/// How an axis came to a dim. Axes of one dim that came together, from one
/// tensor, are one arrival each.
struct AxisArrival {
  /// -1: given. Steps are numbered from 0 over the whole propagation; all that
  /// one visit of an op changes is one step.
  int32_t step = -1;
  int32_t tensor = -1;
  int32_t dim = -1;
  AxisRef axis = {};
  /// The tensor that the constraint was given on; itself if given.
  int32_t origin = -1;

  /// The rest is of arrivals in a step only. Operand or result of the op, -1
  /// for a member of a sharding group, which got it with `source`.
  GraphPlace place = {};
  int32_t slot = -1;
  int32_t sourceSlot = -1;
  int32_t source = -1;
  int32_t sourceDim = -1;
  /// When the op was visited: user priority, level of op priority.
  int64_t round = 0;
  int32_t level = 0;
};

/// Why a tensor does not take all the axes that a factor offers it.
enum class RefusalReason : uint8_t {
  /// Its dim is closed.
  Closed,
  /// The dim's axes do not fit its factors, so nothing can follow them.
  Overflow,
  /// Another factor has an axis already.
  UsedByFactor,
  /// The tensor must not use an axis, or is a sum over it.
  Replicated,
  Unreduced,
  /// The axes do not divide the factor, which is not the last of its dim.
  DoesNotDivide,
  /// Another tensor has other axes along the same factor.
  Disagreement,
  /// The result of the element-wise op does not have them.
  NotInResult,
  /// The factor is blocked, or the op is a barrier.
  Blocked,
};

/// By which rule the winner of a conflict won.
enum class DecidingRule : uint8_t {
  /// No other axis was in the way.
  None,
  /// The user put the axis there.
  Given,
  UserPriority,
  OpPriority,
  /// In the same step, of the two factors' sources the larger, the more
  /// sharded, the first; or the first factor.
  LargerSource,
  MoreShards,
  EarlierTensor,
  EarlierFactor,
  /// It was there when the other one came.
  CameFirst,
};

llvm::StringRef toString(RefusalReason reason);
llvm::StringRef toString(DecidingRule rule);
/// "pass-through ops whose operands have no other use", ...
llvm::StringRef levelName(int32_t level);

struct AxisRefused {
  RefusalReason reason;
  DecidingRule rule = DecidingRule::None;
  GraphPlace place = {};
  /// Who was to get the axes, and those it did not get.
  int32_t tensor = -1;
  int32_t dim = -1;
  AxisList axes = {};
  /// Who offered them.
  int32_t source = -1;
  int32_t sourceDim = -1;
  /// UsedByFactor, Disagreement, NotInResult: who has other axes, or the same
  /// one elsewhere.
  int32_t winner = -1;
  int32_t winnerDim = -1;
};

struct PropagationRecord {
  /// Given axes first, then in the order of steps.
  std::vector<AxisArrival> arrivals;
  /// What stood at the end.
  std::vector<AxisRefused> refused;

  /// How the part of `axis` that stands in dim `dim` of `tensor` came there,
  /// the last arrival that overlaps it; null if none did.
  const AxisArrival *find(int32_t tensor, int32_t dim, AxisRef axis) const;
};

} // namespace shardonnay

#endif // SHARDONNAY_REPORT_PROPAGATIONRECORD_H
