//===- ValueNumbers.h - numbers for the tensors of a graph ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_VALUENUMBERS_H
#define SHARDONNAY_TRANSFORMS_PROPAGATE_VALUENUMBERS_H

#include "mlir/IR/Value.h"
#include "shardonnay/support/HashIndex.h"
#include "shardonnay/support/NearbyInfo.h"
#include "shardonnay/support/Prefetch.h"
#include "llvm/ADT/SmallVector.h"

namespace shardonnay {

/// The values that are tensors of a graph, numbered from 0.
class ValueNumbers {
public:
  /// What `find` gives for a value that was not added.
  static constexpr int32_t kUnknown = HashIndex::kNone;

  /// Null takes a number that nothing is found by.
  void add(mlir::Value value) { values.push_back(value); }

  /// Once all are added.
  void makeFindable() {
    index.reserve(values.size());
    auto hash = [&](size_t number) { return hashOf(number); };
    for (size_t number = 0; number < values.size(); ++number)
      index.add(hash(number), hash);
  }

  int32_t find(mlir::Value value) const {
    return index.find(NearbyInfo<mlir::Value>::getHashValue(value),
                      [&](int32_t number) { return values[number] == value; });
  }

  size_t size() const { return values.size(); }
  /// To be asked for in order: fetches those that come.
  mlir::Value operator[](int32_t number) const {
    return fetchElement(values, number);
  }

  /// The value of each number. Nothing is found after that.
  llvm::SmallVector<mlir::Value, 0> take() {
    index = HashIndex();
    return std::move(values);
  }

private:
  /// Those of nulls are spread over the table.
  size_t hashOf(size_t number) const {
    return values[number]
               ? NearbyInfo<mlir::Value>::getHashValue(values[number])
               : number * 31;
  }

  /// It grows in place where that is possible.
  llvm::SmallVector<mlir::Value, 0> values;
  HashIndex index;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_VALUENUMBERS_H
