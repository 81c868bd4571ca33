//===- LocalSearchTest.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/LocalSearch.h"
#include "shardonnay/strategy/Graphs.h"
#include "shardonnay/strategy/NeighborSearch.h"
#include "shardonnay/strategy/StateEvaluator.h"
#include "shardonnay/strategy/WantedShardings.h"
#include <gtest/gtest.h>

using namespace shardonnay;

namespace {

const Mesh mesh({4});
const AxisList a{mesh.fullAxis(0)};

double priceOf(const StrategyState &state) {
  return StateEvaluator(state).get().price;
}

/// All uses of the first dot need it by rows, which propagation did not see.
TEST(WantedShardings, aResultIsAsAllItsUsesWantIt) {
  TestGraph test(mesh, 64);
  int32_t rows = test.sharding(a), columns = test.sharding({}, a);
  int32_t x = test.addArgument(rows), w = test.addArgument(columns);
  int32_t first = test.addDot(x, w, columns);
  int32_t sum = test.addSum(first, x, rows);
  test.addReturn(sum, rows);
  test.finish();
  StrategyState state(test.graph, test.table);
  adoptWantedShardings(state);
  EXPECT_EQ(state.shardingOf(first), rows);
}

/// One activation, gathered for a dot by columns, which two others can use.
TEST(LocalSearch, usersShareACopy) {
  TestGraph test(mesh, 64);
  int32_t rows = test.sharding(a), columns = test.sharding({}, a);
  int32_t x = test.addArgument(rows);
  llvm::SmallVector<int32_t> results;
  for (int i = 0; i < 3; ++i)
    results.push_back(test.addDot(x, test.addArgument(columns), columns));
  for (int32_t result : results)
    test.addReturn(result, columns);
  test.finish();
  StrategyState state(test.graph, test.table);
  double before = priceOf(state);
  SearchMemo memo;
  searchLocally(state, test.arguments, memo);
  std::string error;
  EXPECT_TRUE(state.verify(error)) << error;
  EXPECT_LE(priceOf(state), before);
  // x is gathered once, 3 parts of 4 KiB, whatever reads it.
  EXPECT_EQ(StateEvaluator(state).get().bytes, 3 * 4096);
}

/// Where memory has a price, finer shardings are tried, but none by an axis of
/// one device: it would be a problem of its own for all ops around.
TEST(LocalSearch, axesOfOneDeviceAreNotTried) {
  auto numShardings = [](const Mesh &mesh) {
    AxisList x({mesh.fullAxis(0)});
    TestGraph test(mesh, 64);
    int32_t whole = test.sharding({});
    int32_t left = test.addArgument(whole), right = test.addArgument(whole);
    int32_t dot = test.addDot(left, right, whole);
    test.addReturn(test.addSum(dot, left, whole), whole);
    test.setMemoryPrice(0, 10);
    test.finish();
    StrategyState state(test.graph, test.table);
    SearchMemo memo;
    searchLocally(state, test.arguments, memo);
    EXPECT_TRUE(state.readSharding(dot).uses(mesh.fullAxis(0)));
    // The number of the next one.
    TensorSharding other = TensorSharding::fullyClosed(2);
    other.unreduced = x;
    return test.table.add(other);
  };
  EXPECT_EQ(numShardings(Mesh({4, 1, 1})), numShardings(Mesh({4})));
}

TEST(LocalSearch, costsLess) {
  std::mt19937 random(3);
  double sum = 0, after = 0;
  for (int round = 0; round < 200; ++round) {
    auto test = makeRandomGraph(random, 12, nullptr);
    StrategyState state(test->graph, test->table);
    double before = priceOf(state);
    SearchMemo memo;
    searchLocally(state, test->arguments, memo);
    std::string error;
    ASSERT_TRUE(state.verify(error)) << error;
    // One graph in a hundred would become a tenth more expensive: what an op
    // shares with others, but for the value that is looked at, is not seen.
    ASSERT_LE(priceOf(state), before * (1 + 1e-9));
    after += priceOf(state);
    sum += before;
  }
  EXPECT_LT(after, 0.95 * sum);
}

TEST(LocalSearch, isTheSameForAMemoOfAnotherGraph) {
  std::mt19937 random(4);
  for (int round = 0; round < 40; ++round) {
    auto test = makeRandomGraph(random, 10, nullptr);
    StrategyState one(test->graph, test->table), two(test->graph, test->table);
    SearchMemo memo;
    searchLocally(one, test->arguments, memo);
    searchLocally(two, test->arguments, memo);
    for (size_t value = 0; value < test->graph.numValues(); ++value)
      ASSERT_EQ(one.shardingOf(value), two.shardingOf(value));
    ASSERT_EQ(one.getCopies().size(), two.getCopies().size());
  }
}

TEST(NeighborSearch, neverCostsMoreThanBefore) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    auto test = makeRandomGraph(random, 10, nullptr);
    StrategyState state(test->graph, test->table);
    double before = priceOf(state);
    SearchCosts costs = searchNeighbors(state);
    std::string error;
    ASSERT_TRUE(state.verify(error)) << error;
    ASSERT_LE(costs.cost, costs.greedyCost);
    ASSERT_LE(costs.bound, costs.cost * (1 + 1e-9));
    ASSERT_LE(priceOf(state), before * (1 + 1e-9));
  }
}

} // namespace
