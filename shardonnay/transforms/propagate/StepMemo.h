//===- StepMemo.h - steps that were done before -----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the steps of one propagation graph do, so that none is done twice.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_STEPMEMO_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_STEPMEMO_H

#include "shardonnay/support/HashIndex.h"
#include "shardonnay/support/PackedNumbers.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <optional>

namespace shardonnay {

/// What steps do to the shardings of an op's tensors. A step depends on nothing
/// else, and programs repeat themselves, so most steps are found here.
class StepMemo {
public:
  /// What is done, and on which shardings.
  class Key {
  public:
    explicit Key(int32_t what) : parts({2, what}) {}
    void add(int32_t sharding) {
      parts.push_back(sharding);
      ++parts[0];
    }

  private:
    friend class StepMemo;
    /// Its own length first: keys of one length agree, or differ before the end
    /// of either.
    llvm::SmallVector<int32_t, 16> parts;
  };

  /// The shardings after the step, kNone where nothing changes; nothing if it
  /// is not known.
  std::optional<PackedNumbers::Slice> find(const Key &key) const {
    int32_t step = index.find(hashOf(key.parts), [&](int32_t step) {
      return std::equal(key.parts.begin(), key.parts.end(),
                        steps.slice(firsts[step], steps.size()).begin());
    });
    if (step == HashIndex::kNone)
      return std::nullopt;
    size_t after = firsts[step] + key.parts.size();
    return steps.slice(after, after + key.parts.size() - 2);
  }

  /// Enters what is after the step of a key that is not known.
  void add(const Key &key, llvm::ArrayRef<int32_t> after) {
    if (index.size() >= kMaxSteps)
      *this = StepMemo();
    index.add(hashOf(key.parts), [&](int32_t step) {
      size_t first = firsts[step];
      return hashOf(steps.slice(first, first + steps[first]));
    });
    firsts.append(steps.size());
    for (int32_t part : key.parts)
      steps.append(part);
    for (int32_t id : after)
      steps.append(id);
  }

private:
  /// A program that has more starts anew.
  static constexpr int32_t kMaxSteps = 16384;

  template <typename PartsT> static size_t hashOf(const PartsT &key) {
    uint64_t hash = 0;
    for (int32_t part : key)
      hash = (hash ^ static_cast<uint32_t>(part)) * 0x9E3779B97F4A7C15u;
    return hash >> 32;
  }

  /// Keys, each with what is after the step, and where each begins.
  PackedNumbers steps, firsts;
  HashIndex index;
};
} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_STEPMEMO_H
