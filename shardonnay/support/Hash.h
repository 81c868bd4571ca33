//===- Hash.h - hashes of lists of small numbers ----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables of axes, layouts and rules are asked some ten thousand times for a
// program, and most lists in them have no axis or one: llvm::hash_combine, made
// for long keys, took 4 % of the stages that choose and plan.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_SUPPORT_HASH_H
#define SHARDONNAY_SUPPORT_HASH_H

#include "llvm/ADT/Hashing.h"
#include <cstdint>

namespace shardonnay {

/// `hash`, of what came before, and a further number.
inline size_t mixed(size_t hash, uint64_t number) {
  uint64_t product = (hash ^ number) * 0x9E3779B97F4A7C15u;
  return product ^ (product >> 32);
}

/// Likewise with all elements of `range`, and how many they are.
template <typename RangeT> size_t mixedAll(size_t hash, const RangeT &range) {
  hash = mixed(hash, range.size());
  for (const auto &element : range)
    hash = mixed(hash, element);
  return hash;
}

} // namespace shardonnay

#endif // SHARDONNAY_SUPPORT_HASH_H
