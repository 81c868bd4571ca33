//===- StateEvaluatorTest.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/StateEvaluator.h"
#include "shardonnay/strategy/Graphs.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

using namespace shardonnay;

namespace {

TEST(RangeMaximum, isThatOfAnArray) {
  std::mt19937 random(1);
  for (size_t size : {1, 2, 7, 64}) {
    RangeMaximum maximum(size);
    std::vector<int64_t> numbers(size);
    for (int step = 0; step < 100; ++step) {
      size_t begin = random() % size, end = begin + random() % (size - begin);
      int64_t amount = static_cast<int64_t>(random() % 100) - 40;
      maximum.add(begin, end, amount);
      for (size_t i = begin; i < end; ++i)
        numbers[i] += amount;
      // Beyond the array there are zeros.
      int64_t expected = *llvm::max_element(numbers);
      if (!llvm::isPowerOf2_64(size))
        expected = std::max<int64_t>(expected, 0);
      ASSERT_EQ(maximum.get(), expected);
    }
  }
}

/// x and y of [64, 64], 16 KiB each, w whole: x w is computed by rows, and
/// gathered.
TEST(StateEvaluator, countsAReshardOnce) {
  Mesh mesh({4});
  AxisList a{mesh.fullAxis(0)};
  TestGraph test(mesh, 64);
  int32_t rows = test.sharding(a), whole = test.sharding({});
  int32_t x = test.addArgument(rows), w = test.addArgument(rows);
  int32_t first = test.addDot(x, w, rows), second = test.addDot(first, w, rows);
  test.addReturn(second, whole);
  test.finish();
  StrategyState state(test.graph, test.table);
  StateCost cost = StateEvaluator(state).get();
  // The weight is gathered for both dots, then the result: three of four parts
  // of 4 KiB are received, each time.
  EXPECT_EQ(cost.bytes, 2 * 3 * 4096);
  std::string error;
  EXPECT_TRUE(state.verify(error)) << error;
}

TEST(StateEvaluator, aBlockCountsAsOftenAsItRuns) {
  Mesh mesh({4});
  auto costOf = [&](double trips) {
    TestGraph test(mesh, 64);
    int32_t rows = test.sharding(AxisList{mesh.fullAxis(0)});
    int32_t x = test.addArgument(rows);
    test.addReturn(test.addSum(x, x, rows), test.sharding({}));
    test.setTrips(trips);
    test.finish();
    StrategyState state(test.graph, test.table);
    return StateEvaluator(state).get();
  };
  StateCost once = costOf(1), often = costOf(10);
  EXPECT_EQ(once.bytes, 3 * 4096);
  EXPECT_EQ(often.bytes, 10 * once.bytes);
  EXPECT_DOUBLE_EQ(often.price, 10 * once.price);
  EXPECT_EQ(often.peak, once.peak);
}

TEST(StateEvaluator, valuesBetweenElementwiseOpsAreInNoMemory) {
  Mesh mesh({4});
  DeviceModel model;
  model.memoryBandwidth = 1e9;
  auto priceOf = [&](bool fuses) {
    TestGraph test(mesh, 64, &model);
    int32_t rows = test.sharding(AxisList{mesh.fullAxis(0)});
    int32_t x = test.addArgument(rows), value = test.addSum(x, x, rows);
    int32_t last = fuses ? test.addSum(value, value, rows) : value;
    test.addReturn(last, rows);
    test.finish();
    StrategyState state(test.graph, test.table);
    return StateEvaluator(state).get().price;
  };
  // Two ops in a chain read two operands and write one, as one op does.
  EXPECT_GT(priceOf(false), 0);
  EXPECT_DOUBLE_EQ(priceOf(true), priceOf(false));
}

TEST(StateEvaluator, updatesGiveWhatStartingAnewDoes) {
  std::mt19937 random(2);
  DeviceModel model;
  model.memoryBandwidth = 1e9;
  model.flopsPerSecond = 1e10;
  for (int round = 0; round < 60; ++round) {
    auto test = makeRandomGraph(random, 12, round % 2 ? &model : nullptr);
    StrategyState state(test->graph, test->table);
    StateEvaluator evaluator(state);
    for (int step = 0; step < 8; ++step) {
      int32_t value = test->arguments.size() + random() % 12;
      int32_t sharding = state.shardingOf(random() % test->graph.numValues());
      if (step % 3 == 2 && state.isUsed(value)) {
        int32_t reader = test->graph.usesOf(value).front().op;
        if (reader < 0 || state.operandsOf(reader)[0] != value)
          continue;
        state.redirect(reader, value, state.addCopy(value, sharding));
      } else {
        state.change(value, sharding);
      }
      evaluator.update(value);
      StateCost kept = evaluator.get(), anew = StateEvaluator(state).get();
      ASSERT_NEAR(kept.price, anew.price, 1e-9 * (1 + anew.price));
      ASSERT_EQ(kept.bytes, anew.bytes);
      ASSERT_EQ(kept.peak, anew.peak);
      std::string error;
      ASSERT_TRUE(state.verify(error)) << error;
    }
  }
}

} // namespace
