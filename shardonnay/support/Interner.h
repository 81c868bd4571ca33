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

#ifndef SHARDONNAY_SUPPORT_INTERNER_H
#define SHARDONNAY_SUPPORT_INTERNER_H

#include "shardonnay/support/HashIndex.h"
#include "llvm/ADT/Hashing.h"
#include <deque>

namespace shardonnay {

/// Values of type T (with hash_value and ==), numbered from 0 in the order in
/// which they first came. References stay valid.
template <typename T> class Interner {
public:
  int32_t intern(const T &value) {
    size_t hash = hash_value(value);
    int32_t known =
        index.find(hash, [&](int32_t id) { return values[id] == value; });
    if (known != HashIndex::kNone)
      return known;
    values.push_back(value);
    return index.add(hash, [&](int32_t id) { return hash_value(values[id]); });
  }

  const T &operator[](int32_t id) const { return values[id]; }
  int32_t size() const { return index.size(); }

private:
  std::deque<T> values;
  HashIndex index;
};

} // namespace shardonnay

#endif // SHARDONNAY_SUPPORT_INTERNER_H
