//===- time-index.cpp - our hash index beside llvm::DenseMap --------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints a row for each use that the library has of support/HashIndex.h:
// nanoseconds of an entry and of a look-up, and bytes of the table, of
// llvm::DenseMap and of HashIndex.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/support/Hash.h"
#include "shardonnay/support/HashIndex.h"
#include "shardonnay/support/NearbyInfo.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>

using namespace shardonnay;

namespace {

struct Row {
  double enter, find, bytes;
};

/// Nanoseconds a step of `run`, which takes `steps`: the least of five.
template <typename RunT> double measure(size_t steps, RunT run) {
  double least = HUGE_VAL;
  for (int turn = 0; turn < 5; ++turn) {
    auto start = std::chrono::steady_clock::now();
    run();
    std::chrono::duration<double, std::nano> taken =
        std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count() / steps);
  }
  return least;
}

void print(llvm::StringRef what, Row dense, Row index) {
  llvm::outs() << llvm::format(
      "%-44s %6.1f %6.1f %9.0f   %6.1f %6.1f %9.0f\n", what.data(), dense.enter,
      dense.find, dense.bytes, index.enter, index.find, index.bytes);
}

volatile int64_t sink;

/// Numbers of all values of a program, looked up in the order of the text: ops
/// are 128 to 384 bytes from each other.
void numberValues(size_t count) {
  llvm::SmallVector<void *, 0> values;
  uintptr_t address = 1 << 20;
  for (size_t i = 0; i < count; ++i)
    values.push_back(
        reinterpret_cast<void *>(address += 128 * (1 + i * i % 3)));
  llvm::DenseMap<void *, int32_t, NearbyInfo<void *>> map;
  Row dense, own;
  dense.enter = measure(count, [&] {
    map.shrink_and_clear();
    for (size_t i = 0; i < count; ++i)
      map[values[i]] = i;
  });
  dense.find = measure(count, [&] {
    int64_t sum = 0;
    for (void *value : values)
      sum += map.lookup(value);
    sink = sum;
  });
  dense.bytes = map.getMemorySize();
  HashIndex index;
  auto hashOf = [&](int32_t i) -> size_t {
    return NearbyInfo<void *>::getHashValue(values[i]);
  };
  own.enter = measure(count, [&] {
    index = HashIndex();
    index.reserve(count);
    for (size_t i = 0; i < count; ++i)
      index.add(hashOf(i), hashOf);
  });
  own.find = measure(count, [&] {
    int64_t sum = 0;
    for (size_t i = 0; i < count; ++i)
      sum += index.find(hashOf(i),
                        [&](int32_t n) { return values[n] == values[i]; });
    sink = sum;
  });
  own.bytes = index.getMemorySize();
  print("numbers of " + std::to_string(count) + " values", dense, own);
}

/// Numbers of lists of small numbers, of which few are different: shardings,
/// signatures, steps of propagation.
void intern(size_t different, size_t lookups) {
  std::vector<std::vector<int32_t>> lists;
  for (size_t i = 0; i < different; ++i)
    lists.push_back({3, int32_t(i % 7), int32_t(i / 7), int32_t(i % 3)});
  auto hashOf = [&](int32_t i) { return mixedAll(0, lists[i]); };
  llvm::DenseMap<llvm::ArrayRef<int32_t>, int32_t> map;
  Row dense, own;
  dense.enter = measure(different, [&] {
    map.shrink_and_clear();
    for (size_t i = 0; i < different; ++i)
      map[lists[i]] = i;
  });
  dense.find = measure(lookups, [&] {
    int64_t sum = 0;
    for (size_t i = 0; i < lookups; ++i)
      sum += map.find(lists[i * 31 % different])->second;
    sink = sum;
  });
  dense.bytes = map.getMemorySize();
  HashIndex index;
  own.enter = measure(different, [&] {
    index = HashIndex();
    for (size_t i = 0; i < different; ++i)
      index.add(hashOf(i), hashOf);
  });
  own.find = measure(lookups, [&] {
    int64_t sum = 0;
    for (size_t i = 0; i < lookups; ++i) {
      const std::vector<int32_t> &list = lists[i * 31 % different];
      sum += index.find(mixedAll(0, list),
                        [&](int32_t n) { return lists[n] == list; });
    }
    sink = sum;
  });
  own.bytes = index.getMemorySize();
  print("numbers of " + std::to_string(different) + " lists", dense, own);
}

} // namespace

int main() {
  llvm::outs() << llvm::format("%-44s %-23s   %s\n", "", "llvm::DenseMap",
                               "HashIndex")
               << llvm::format("%-44s %6s %6s %9s   %6s %6s %9s\n", "", "enter",
                               "find", "bytes", "enter", "find", "bytes");
  for (size_t count : {10'000, 100'000, 1'000'000})
    numberValues(count);
  for (size_t different : {100, 1'000, 16'000})
    intern(different, 1'000'000);
  return 0;
}
