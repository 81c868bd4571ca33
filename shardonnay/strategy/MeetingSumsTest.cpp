//===- MeetingSumsTest.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/MeetingSums.h"
#include "shardonnay/strategy/Graphs.h"
#include <gtest/gtest.h>

using namespace shardonnay;

namespace {

/// A dot between what is sharded along the dim that it contracts; one whose
/// right operand is whole, which alone moves the left one to compute rows; and
/// what is added to the first, the second among it.
struct Sums {
  Sums() : test(Mesh({4}), 64) {
    AxisList a{AxisRef{0, 1, 4}};
    rows = test.sharding(a);
    int32_t columns = test.sharding({}, a), whole = test.sharding({});
    first =
        test.addDot(test.addArgument(columns), test.addArgument(rows), rows);
    second =
        test.addDot(test.addArgument(columns), test.addArgument(whole), rows);
  }
  bool isInParts(const StrategyState &state, int32_t value) const {
    int32_t op = state.getGraph().value(value).producer;
    return !test.table.sharding(state.strategyOf(op)->needed.back())
                .unreduced.empty();
  }

  TestGraph test;
  int32_t rows, first, second;
};

TEST(MeetingSums, oneReductionServesBoth) {
  Sums sums;
  sums.test.addReturn(sums.test.addSum(sums.first, sums.second, sums.rows),
                      sums.rows);
  sums.test.finish();
  StrategyState state(sums.test.graph, sums.test.table);
  EXPECT_TRUE(sums.isInParts(state, sums.first));
  EXPECT_FALSE(sums.isInParts(state, sums.second));
  joinSums(state);
  EXPECT_TRUE(sums.isInParts(state, sums.first));
  EXPECT_TRUE(sums.isInParts(state, sums.second));
  std::string error;
  EXPECT_TRUE(state.verify(error)) << error;
}

TEST(MeetingSums, whatIsReadWholeStaysWhole) {
  Sums sums;
  sums.test.addReturn(sums.test.addSum(sums.first, sums.second, sums.rows),
                      sums.rows);
  sums.test.addReturn(sums.second, sums.rows);
  sums.test.finish();
  StrategyState state(sums.test.graph, sums.test.table);
  joinSums(state);
  EXPECT_FALSE(sums.isInParts(state, sums.second));
}

TEST(MeetingSums, whatIsAddedWholeMeetsNothing) {
  Sums sums;
  int32_t third = sums.test.addSum(sums.second,
                                   sums.test.addArgument(sums.rows), sums.rows);
  sums.test.addReturn(sums.test.addSum(sums.first, third, sums.rows),
                      sums.rows);
  sums.test.finish();
  StrategyState state(sums.test.graph, sums.test.table);
  joinSums(state);
  EXPECT_FALSE(sums.isInParts(state, sums.second));
}

TEST(MeetingSums, whatIsNoTensorIsNoSum) {
  Sums sums;
  TestGraph &test = sums.test;
  int32_t shaped = test.addShaped(sums.second, test.addShape(), sums.rows);
  test.addReturn(test.addSum(sums.first, shaped, sums.rows), sums.rows);
  test.finish();
  StrategyState state(test.graph, test.table);
  joinSums(state);
  EXPECT_FALSE(sums.isInParts(state, sums.second));
}

} // namespace
