//===- PackedNumbersTest.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/support/PackedNumbers.h"
#include "gtest/gtest.h"

using namespace shardonnay;

namespace {

/// The ends of what each width holds.
constexpr int32_t kEnds[] = {-1,       0,          254,       255,
                             65534,    65535,      16777214,  16777215,
                             16777216, 2147483646, 2147483647};

TEST(PackedNumbers, EveryWidthHoldsAllBeforeIt) {
  for (int32_t largest : kEnds) {
    PackedNumbers numbers(largest);
    llvm::SmallVector<int32_t> expected;
    for (int32_t end : kEnds)
      if (end <= largest) {
        numbers.append(end);
        expected.push_back(end);
      }
    EXPECT_EQ(llvm::to_vector(numbers.slice(0, numbers.size())), expected);
  }
}

TEST(PackedNumbers, WidenKeepsWhatIsThere) {
  PackedNumbers numbers;
  for (int32_t end : kEnds) {
    numbers.append(end);
    for (size_t at = 0; at < numbers.size(); ++at)
      EXPECT_EQ(numbers[at], kEnds[at]);
  }
}

TEST(PackedNumbers, SetLeavesTheNeighbours) {
  PackedNumbers numbers;
  numbers.resize(300, -1);
  for (int32_t at = 299; at >= 0; --at)
    numbers.set(at, at);
  numbers.set(7, 1 << 20);
  for (int32_t at = 0; at < 300; ++at)
    EXPECT_EQ(numbers[at], at == 7 ? 1 << 20 : at);
  EXPECT_EQ(llvm::to_vector(numbers.slice(5, 9)),
            (llvm::SmallVector<int32_t>{5, 6, 1 << 20, 8}));
}

} // namespace
