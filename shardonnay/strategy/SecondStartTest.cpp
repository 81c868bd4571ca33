//===- SecondStartTest.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/SecondStart.h"
#include "shardonnay/strategy/ChainSearch.h"
#include "shardonnay/strategy/Graphs.h"
#include "shardonnay/strategy/LocalSearch.h"
#include "shardonnay/strategy/StateEvaluator.h"
#include <gtest/gtest.h>

using namespace shardonnay;

namespace {

class SecondStart : public testing::TestWithParam<const char *> {};

/// On random graphs, by models that price compute and by one that does not.
TEST_P(SecondStart, costsLessThanTheFirstAlone) {
  const DeviceModel *model = DeviceModel::find(GetParam());
  std::mt19937 random(3);
  int numBetter = 0;
  for (int round = 0; round < 50; ++round) {
    auto test = makeRandomGraph(random, 16, model);
    StrategyState first(test->graph, test->table), both = first;
    SearchMemos memos;
    searchLocally(first, test->arguments, memos.asTheyAre);
    searchChains(first);
    searchStrategies(both, test->arguments, memos);
    std::string error;
    ASSERT_TRUE(both.verify(error)) << error;
    double price = StateEvaluator(first).get().price;
    ASSERT_LE(StateEvaluator(both).get().price, price * (1 + 1e-9));
    numBetter +=
        StateEvaluator(both).get().price < price * (1 - kLeastSecondSaving / 2);
    // No price is weighed any more.
    for (int32_t op = 0, e = test->graph.numOps(); op < e; ++op)
      if (const OpStrategy *strategy = both.strategyOf(op))
        ASSERT_EQ(test->table.ownPrice(*strategy),
                  test->table.getSolver().ownPrice(
                      test->table.problemOf(*strategy), *strategy->factors));
  }
  EXPECT_GT(numBetter, 3);
}

INSTANTIATE_TEST_SUITE_P(Models, SecondStart,
                         testing::Values("bytes", "cpu", "gpu-node"));

/// A block of which all is where it is needed has no second start.
TEST(SecondStart, nothingIsReshardedForIt) {
  Mesh mesh({4});
  AxisList a{mesh.fullAxis(0)};
  TestGraph test(mesh, 64);
  int32_t rows = test.sharding(a), whole = test.sharding({});
  int32_t made =
      test.addDot(test.addArgument(rows), test.addArgument(whole), rows);
  test.addReturn(made, rows);
  test.finish();
  StrategyState state(test.graph, test.table);
  SearchMemos memos;
  searchStrategies(state, test.arguments, memos);
  EXPECT_EQ(state.shardingOf(made), rows);
  EXPECT_EQ(StateEvaluator(state).get().bytes, 0);
}

} // namespace
