//===- SearchMemo.h - what was found for equal values -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs repeat themselves: what a local search finds for a value depends on
// its sharding and on the strategies around it alone, so it is found once for
// all values between equal ops.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_STRATEGY_SEARCHMEMO_H
#define SHARDONNAY_STRATEGY_SEARCHMEMO_H

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <unordered_map>

namespace shardonnay {

/// Which sharding a value gets.
struct Improvement {
  /// -1 if the one that it has.
  int32_t sharding = -1;
  /// 0 where it is as cheap as the one before.
  double saved = 0;
  /// Nothing was gained, nor by a copy.
  bool isFruitless = false;
};

class SearchMemo {
public:
  using Key = llvm::SmallVector<uint64_t, 24>;

  /// The entry of `key`, and whether it is new. Stays valid.
  std::pair<Improvement &, bool> find(Key key) {
    auto [entry, isNew] = known.try_emplace(std::move(key));
    return {entry->second, isNew};
  }

private:
  struct Hash {
    size_t operator()(const Key &key) const {
      return llvm::hash_combine_range(key);
    }
  };
  std::unordered_map<Key, Improvement, Hash> known;
};

} // namespace shardonnay

#endif // SHARDONNAY_STRATEGY_SEARCHMEMO_H
