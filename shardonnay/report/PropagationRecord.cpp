//===- PropagationRecord.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/report/PropagationRecord.h"
#include "llvm/ADT/STLExtras.h"

namespace shardonnay {

llvm::StringRef toString(RefusalReason reason) {
  static constexpr llvm::StringLiteral kNames[] = {
      "closed",       "overflow",      "used-by-factor",
      "replicated",   "unreduced",     "does-not-divide",
      "disagreement", "not-in-result", "blocked"};
  return kNames[static_cast<size_t>(reason)];
}

llvm::StringRef toString(DecidingRule rule) {
  static constexpr llvm::StringLiteral kNames[] = {
      "none",           "given",          "user-priority",
      "op-priority",    "larger-source",  "more-shards",
      "earlier-tensor", "earlier-factor", "came-first"};
  return kNames[static_cast<size_t>(rule)];
}

llvm::StringRef levelName(int32_t level) {
  static constexpr llvm::StringLiteral kNames[] = {
      "pass-through ops that are the only users",
      "pass-through ops",
      "pass-through factors",
      "all factors",
      "everything",
      "from results",
      "from all"};
  return kNames[level];
}

const AxisArrival *PropagationRecord::find(int32_t tensor, int32_t dim,
                                           AxisRef axis) const {
  for (const AxisArrival &arrival : llvm::reverse(arrivals))
    if (arrival.tensor == tensor && arrival.dim == dim &&
        arrival.axis.overlaps(axis))
      return &arrival;
  return nullptr;
}

} // namespace shardonnay
