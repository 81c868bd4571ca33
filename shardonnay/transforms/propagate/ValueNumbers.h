//===- ValueNumbers.h - numbers for the tensors of a graph ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_VALUENUMBERS_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_VALUENUMBERS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <vector>

namespace shardonnay {

/// The values that are tensors of a graph, numbered from 0.
class ValueNumbers {
public:
  /// What `find` gives for a value that was not added.
  static constexpr int32_t kUnknown = -1;

  void reserve(size_t count) {
    values.reserve(count);
    slots.assign(llvm::PowerOf2Ceil(count + count / 4 + 2), kUnknown);
  }

  /// Null takes a number that nothing is found by.
  void add(mlir::Value value) {
    if (values.size() + values.size() / 4 >= slots.size())
      grow();
    if (value)
      slots[slotOf(value)] = values.size();
    values.push_back(value);
  }

  int32_t find(mlir::Value value) const {
    return slots.empty() ? kUnknown : slots[slotOf(value)];
  }

  /// The value of each number. Nothing is found after that.
  std::vector<mlir::Value> take() {
    slots = {};
    return std::move(values);
  }

private:
  /// Values that lie together in memory are asked for together: those of four
  /// kilobytes get slots side by side.
  static size_t hashOf(mlir::Value value) {
    auto address = reinterpret_cast<uintptr_t>(value.getAsOpaquePointer());
    return llvm::hash_value(address / 4096) * 32 + address / 128 % 32;
  }

  size_t slotOf(mlir::Value value) const {
    size_t at = hashOf(value);
    while (true) {
      at &= slots.size() - 1;
      if (slots[at] == kUnknown || values[slots[at]] == value)
        return at;
      ++at;
    }
  }

  void grow() {
    slots.assign(llvm::PowerOf2Ceil(4 * values.size() + 64), kUnknown);
    for (auto [number, known] : llvm::enumerate(values))
      if (known)
        slots[slotOf(known)] = number;
  }

  std::vector<mlir::Value> values;
  /// Open addressing, at most four fifths full; its size is a power of two.
  std::vector<int32_t> slots;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_VALUENUMBERS_H
