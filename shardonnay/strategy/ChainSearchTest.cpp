//===- ChainSearchTest.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/ChainSearch.h"
#include "shardonnay/strategy/Graphs.h"
#include "shardonnay/strategy/LocalSearch.h"
#include "shardonnay/strategy/StateEvaluator.h"
#include <gtest/gtest.h>

using namespace shardonnay;

namespace {

TEST(ChainSearch, costsLessThanLocalSearchAlone) {
  std::mt19937 random(6);
  int numBetter = 0;
  for (int round = 0; round < 200; ++round) {
    auto test = makeRandomGraph(random, 16, nullptr);
    StrategyState state(test->graph, test->table);
    SearchMemo memo;
    searchLocally(state, test->arguments, memo);
    StateCost before = StateEvaluator(state).get();
    searchChains(state);
    std::string error;
    ASSERT_TRUE(state.verify(error)) << error;
    StateCost after = StateEvaluator(state).get();
    ASSERT_LE(after.price, before.price * (1 + 1e-9));
    ASSERT_LE(after.reshards, before.reshards * (1 + 1e-9));
    numBetter += after.price < before.price * (1 - kLeastChainSaving);
  }
  EXPECT_GT(numBetter, 20);
}

/// Two gathers of weights, where their results are added up, for one of what
/// both are multiplied with.
TEST(ChainSearch, anActivationIsGatheredOnce) {
  Mesh mesh({4});
  AxisList a{mesh.fullAxis(0)};
  TestGraph test(mesh, 64);
  int32_t rows = test.sharding(a), columns = test.sharding({}, a);
  int32_t x = test.addArgument(rows);
  int32_t sum = test.addDot(x, test.addArgument(columns), rows);
  for (int i = 0; i < 3; ++i)
    sum =
        test.addSum(sum, test.addDot(x, test.addArgument(columns), rows), rows);
  int32_t out = test.addDot(sum, test.addArgument(rows), rows);
  test.addReturn(out, rows);
  test.finish();
  StrategyState state(test.graph, test.table);
  EXPECT_EQ(StateEvaluator(state).get().bytes, 5 * 3 * 4096);
  searchChains(state);
  EXPECT_EQ(state.shardingOf(sum), columns);
  // x is gathered, the last dot's result is summed up and scattered.
  EXPECT_EQ(StateEvaluator(state).get().bytes, 2 * 3 * 4096);
}

/// What is computed in shards and wanted whole by all, who slice it again in
/// the end.
TEST(ChainSearch, aResultStaysAsItIsMade) {
  Mesh mesh({4});
  AxisList a{mesh.fullAxis(0)};
  TestGraph test(mesh, 64);
  int32_t rows = test.sharding(a), whole = test.sharding({});
  int32_t made =
      test.addDot(test.addArgument(rows), test.addArgument(whole), whole);
  int32_t sum = made;
  for (int i = 0; i < 3; ++i)
    sum = test.addSum(sum, made, whole);
  test.addReturn(sum, rows);
  test.finish();
  StrategyState state(test.graph, test.table);
  EXPECT_EQ(StateEvaluator(state).get().bytes, 3 * 4096);
  searchChains(state);
  EXPECT_EQ(state.shardingOf(made), rows);
  EXPECT_EQ(state.shardingOf(sum), rows);
  EXPECT_EQ(StateEvaluator(state).get().bytes, 0);
}

/// What is made by columns from two arguments, through two more ops, and wanted
/// by rows in the end: one argument is by columns, the other by rows already.
TEST(ChainSearch, whatIsWantedIsAskedOfWhatItIsMadeOf) {
  Mesh mesh({4});
  AxisList a{mesh.fullAxis(0)};
  TestGraph test(mesh, 64);
  int32_t rows = test.sharding(a), columns = test.sharding({}, a);
  int32_t made =
      test.addSum(test.addArgument(rows), test.addArgument(columns), columns);
  int32_t twice = test.addSum(made, made, columns);
  int32_t wanted = test.addSum(twice, made, rows);
  test.addReturn(wanted, rows);
  test.finish();
  StrategyState state(test.graph, test.table);
  EXPECT_EQ(StateEvaluator(state).get().bytes, 2 * 3 * 1024);
  searchChains(state);
  EXPECT_EQ(state.shardingOf(made), rows);
  EXPECT_EQ(state.shardingOf(twice), rows);
  EXPECT_EQ(StateEvaluator(state).get().bytes, 3 * 1024);
  std::string error;
  EXPECT_TRUE(state.verify(error)) << error;
}

} // namespace
