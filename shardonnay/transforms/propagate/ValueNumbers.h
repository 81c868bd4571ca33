//===- ValueNumbers.h - numbers for the tensors of a graph ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_VALUENUMBERS_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_VALUENUMBERS_H

#include "mlir/IR/Value.h"
#include "shardonnay/transforms/propagate/PackedNumbers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace shardonnay {

/// The values that are tensors of a graph, numbered from 0.
class ValueNumbers {
public:
  /// What `find` gives for a value that was not added.
  static constexpr int32_t kUnknown = -1;

  /// Null takes a number that nothing is found by.
  void add(mlir::Value value) { values.push_back(value); }

  /// Once all are added.
  void makeFindable() {
    slots = PackedNumbers(values.size());
    slots.resize(llvm::alignTo<kNear>(values.size() + values.size() / 4 + 1),
                 kUnknown);
    for (auto [number, value] : llvm::enumerate(values))
      if (value)
        slots.set(slotOf(value), number);
  }

  int32_t find(mlir::Value value) const { return slots[slotOf(value)]; }

  size_t size() const { return values.size(); }
  mlir::Value operator[](int32_t number) const { return values[number]; }

  /// What is known of values some numbers on is wanted soon.
  void fetchAhead(int32_t number) const {
    static constexpr size_t kAhead = 16;
    const void *value =
        values[std::min(number + kAhead, size() - 1)].getAsOpaquePointer();
    LLVM_PREFETCH(value, 0, 3);
    LLVM_PREFETCH(static_cast<const char *>(value) + 64, 0, 3);
  }

  /// The value of each number. Nothing is found after that.
  llvm::SmallVector<mlir::Value, 0> take() {
    slots = PackedNumbers();
    return std::move(values);
  }

private:
  /// Values that lie together in memory are asked for together: those of four
  /// kilobytes get slots side by side.
  static constexpr uint64_t kNear = 32;

  size_t slotOf(mlir::Value value) const {
    auto address = reinterpret_cast<uintptr_t>(value.getAsOpaquePointer());
    uint64_t hash = (address / 4096 * 0x9E3779B97F4A7C15u) >> 32;
    uint64_t firstNear = (hash * (slots.size() / kNear)) >> 32;
    size_t at = firstNear * kNear + address / 128 % kNear;
    while (slots[at] != kUnknown && values[slots[at]] != value)
      at = at + 1 == slots.size() ? 0 : at + 1;
    return at;
  }

  /// It grows in place where that is possible.
  llvm::SmallVector<mlir::Value, 0> values;
  /// Open addressing, four fifths full.
  PackedNumbers slots;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_VALUENUMBERS_H
