//===- Interner.h - equal values, one number --------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program has many tensors and ops but few different shardings and rules.
// Numbers for them make the graph small and comparisons one instruction.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_INTERNER_H
#define SHARDONNAY_ALGEBRA_INTERNER_H

#include "llvm/ADT/Hashing.h"
#include <cstdint>
#include <deque>
#include <vector>

namespace shardonnay {

/// Values of type T (with hash_value and ==), numbered from 0 in the order in
/// which they first came. References stay valid.
template <typename T> class Interner {
public:
  int32_t intern(const T &value) {
    if (values.size() * 2 >= slots.size())
      grow();
    int32_t &slot = find(value);
    if (slot < 0) {
      slot = values.size();
      values.push_back(value);
    }
    return slot;
  }

  const T &operator[](int32_t id) const { return values[id]; }
  int32_t size() const { return values.size(); }

private:
  /// The slot of `value`, or the empty one where it belongs.
  int32_t &find(const T &value) {
    size_t at = hash_value(value);
    while (true) {
      int32_t &slot = slots[at++ & (slots.size() - 1)];
      if (slot < 0 || values[slot] == value)
        return slot;
    }
  }

  void grow() {
    slots.assign(slots.empty() ? 64 : slots.size() * 2, -1);
    for (size_t id = 0; id < values.size(); ++id)
      find(values[id]) = id;
  }

  std::deque<T> values;
  /// Open addressing; its size is a power of two.
  std::vector<int32_t> slots;
};

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_INTERNER_H
