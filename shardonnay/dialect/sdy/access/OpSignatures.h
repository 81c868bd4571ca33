//===- OpSignatures.h - what equal ops have in common -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs repeat themselves: a model of a thousand layers has a few dozen
// different ops. What is found out of an op from what it is alone (its rule,
// its cheapest cut) is found out once for all that are equal to it. An op's
// form, a list of words, says what it is, but for its operands: name,
// attributes, properties, result types, and its regions op by op.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ACCESS_OPSIGNATURES_H
#define SHARDONNAY_DIALECT_SDY_ACCESS_OPSIGNATURES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Allocator.h"
#include <memory>
#include <unordered_map>

namespace mlir::sdy {

using Words = llvm::SmallVector<uintptr_t, 40>;

inline uintptr_t toWord(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

/// Forms that are equal as words are of equal ops, as long as this lives: it
/// keeps copies of the properties that the words stand for.
class OpSignatures {
public:
  OpSignatures() = default;
  ~OpSignatures();
  OpSignatures(const OpSignatures &) = delete;
  OpSignatures &operator=(const OpSignatures &) = delete;

  /// Appends the form of `op`. False if its regions have too many ops for that,
  /// or use a value from outside; the words are of no use then.
  bool append(Operation *op, Words &words);
  /// Appends what `value` is for an op that looks at constants: its form if it
  /// is a constant that is not of floats, which may be a shape or a position.
  void appendConstant(Value value, Words &words);

private:
  struct Properties {
    OperationName name;
    std::unique_ptr<std::max_align_t[]> storage;
  };
  /// A pointer that equal properties of one kind of op share; null if it has
  /// none.
  const void *internProperties(Operation *op);
  bool appendRegion(Region &region, Words &words);

  /// By their hash.
  std::unordered_multimap<size_t, Properties> properties;
};

/// A map from lists of words.
template <typename T> class WordMap {
public:
  /// The value of `words`, and whether it is new. Stays valid until the next
  /// call.
  std::pair<T &, bool> find(llvm::ArrayRef<uintptr_t> words) {
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

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ACCESS_OPSIGNATURES_H
