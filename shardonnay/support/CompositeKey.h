//===- CompositeKey.h - keys of several parts -------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_SUPPORT_COMPOSITEKEY_H
#define SHARDONNAY_SUPPORT_COMPOSITEKEY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"
#include <cstdint>
#include <type_traits>

namespace shardonnay {

/// A key of any number of parts. A part is a number, or something that is told
/// from others by its address: an attribute, a type, a value, the name of an
/// op, an object that outlives the key.
class CompositeKey {
public:
  template <typename... PartTs> void add(const PartTs &...parts) {
    (words.push_back(toWord(parts)), ...);
  }
  template <typename RangeT> void addAll(const RangeT &parts) {
    for (const auto &part : parts)
      add(part);
  }

private:
  template <typename T> friend class CompositeMap;

  template <typename T> static uintptr_t toWord(const T &part) {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
      return static_cast<uintptr_t>(part);
    else if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<uintptr_t>(part);
    else
      return reinterpret_cast<uintptr_t>(part.getAsOpaquePointer());
  }

  llvm::SmallVector<uintptr_t, 40> words;
};

template <typename... PartTs> CompositeKey makeKey(const PartTs &...parts) {
  CompositeKey key;
  key.add(parts...);
  return key;
}

/// A map from composite keys.
template <typename T> class CompositeMap {
public:
  /// The value of `key`, and whether it is new. Stays valid until the next
  /// call.
  std::pair<T &, bool> find(const CompositeKey &key) {
    llvm::ArrayRef<uintptr_t> words = key.words;
    auto entry = map.find(words);
    if (entry != map.end())
      return {entry->second, false};
    return {map[words.copy(keys)], true};
  }

private:
  struct Info {
    using Key = llvm::ArrayRef<uintptr_t>;
    static Key getEmptyKey() { return llvm::DenseMapInfo<Key>::getEmptyKey(); }
    static Key getTombstoneKey() {
      return llvm::DenseMapInfo<Key>::getTombstoneKey();
    }
    static unsigned getHashValue(Key words) {
      uint64_t hash = words.size();
      for (uintptr_t word : words)
        hash = (hash ^ (hash >> 29) ^ word) * 0x9E3779B97F4A7C15ull;
      return static_cast<unsigned>(hash >> 32);
    }
    static bool isEqual(Key a, Key b) {
      return llvm::DenseMapInfo<Key>::isEqual(a, b);
    }
  };

  llvm::DenseMap<llvm::ArrayRef<uintptr_t>, T, Info> map;
  llvm::BumpPtrAllocator keys;
};

} // namespace shardonnay

#endif // SHARDONNAY_SUPPORT_COMPOSITEKEY_H
