//===- HashIndex.h - numbers of things, found by hash -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llvm::DenseMap keeps keys and values in its table, at most three quarters
// full. Where the things that are looked for stand in an array anyway, numbers
// of one to four bytes are enough: a table of 10^6 values takes 6 MB and not
// 32. It is looked up in 1 to 2 times the time (benchmarks/index), which is
// less than the memory is worth to programs of that size.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_SUPPORT_HASHINDEX_H
#define SHARDONNAY_SUPPORT_HASHINDEX_H

#include "shardonnay/support/PackedNumbers.h"
#include "llvm/Support/MathExtras.h"

namespace shardonnay {

/// Gives things that others keep the numbers 0, 1, 2, .. and finds them by
/// their hashes, of which the low bits count.
class HashIndex {
public:
  static constexpr int32_t kNone = -1;

  int32_t size() const { return count; }
  size_t getMemorySize() const { return slots.getMemorySize(); }

  /// Makes room for `size` things. There must be none yet.
  void reserve(size_t size) {
    assert(count == 0 && "things were added");
    setSlots(llvm::PowerOf2Ceil(size + size / 2 + 1), size);
  }

  /// The number of the thing of this hash that `isIt` accepts by its number;
  /// kNone if there is none.
  template <typename IsItT> int32_t find(size_t hash, IsItT isIt) const {
    if (count == 0)
      return kNone;
    for (size_t at = hash;; ++at) {
      int32_t number = slots[at & mask];
      if (number == kNone || isIt(number))
        return number;
    }
  }

  /// Gives the next number to a thing of this hash, which is not found.
  /// `hashOf` says the hashes of those before, when the table grows.
  template <typename HashOfT> int32_t add(size_t hash, HashOfT hashOf) {
    if (static_cast<size_t>(count) * 3 >= slots.size() * 2) {
      setSlots(std::max<size_t>(64, slots.size() * 2), count);
      for (int32_t number = 0; number < count; ++number)
        slots.set(freeSlot(hashOf(number)), number);
    }
    slots.set(freeSlot(hash), count);
    return count++;
  }

  /// Takes out the thing that was added last, of this hash.
  void removeLast(size_t hash) {
    --count;
    while (slots[hash & mask] != count)
      ++hash;
    slots.set(hash & mask, kNone);
  }

private:
  /// `numSlots` is a power of two.
  void setSlots(size_t numSlots, size_t largestNumber) {
    slots = PackedNumbers(largestNumber);
    slots.resize(numSlots, kNone);
    mask = numSlots - 1;
  }

  size_t freeSlot(size_t hash) const {
    while (slots[hash & mask] != kNone)
      ++hash;
    return hash & mask;
  }

  /// Open addressing, two thirds full at most. Numbers were entered in order,
  /// so none is behind the last on the way to its slot.
  PackedNumbers slots;
  size_t mask = 0;
  int32_t count = 0;
};

} // namespace shardonnay

#endif // SHARDONNAY_SUPPORT_HASHINDEX_H
