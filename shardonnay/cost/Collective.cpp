//===- Collective.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/cost/Collective.h"
#include "llvm/Support/MathExtras.h"

namespace shardonnay {

llvm::StringRef toString(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::Slice:
    return "slice";
  case CollectiveKind::Permute:
    return "collective_permute";
  case CollectiveKind::AllToAll:
    return "all_to_all";
  case CollectiveKind::AllGather:
    return "all_gather";
  case CollectiveKind::ReduceScatter:
    return "reduce_scatter";
  case CollectiveKind::AllReduce:
    return "all_reduce";
  }
  return "";
}

Cost collectiveCost(CollectiveKind kind, int64_t groupSize,
                    int64_t inputBytes) {
  if (groupSize <= 1)
    return {};
  int64_t rounds = llvm::Log2_64_Ceil(groupSize);
  // What is left of `bytes` without this device's own share, rounded up.
  auto othersShare = [&](int64_t bytes) { return bytes - bytes / groupSize; };
  switch (kind) {
  case CollectiveKind::Slice:
    return {};
  case CollectiveKind::Permute:
    return {inputBytes, 2};
  case CollectiveKind::AllGather:
    return {countProduct(inputBytes, groupSize - 1), 1 + rounds};
  case CollectiveKind::AllToAll:
  case CollectiveKind::ReduceScatter:
    return {othersShare(inputBytes), 1 + rounds};
  case CollectiveKind::AllReduce:
    return {othersShare(countProduct(2, inputBytes)), 1 + 2 * rounds};
  }
  return {};
}

} // namespace shardonnay
