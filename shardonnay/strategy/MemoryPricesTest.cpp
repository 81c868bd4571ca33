//===- MemoryPricesTest.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs of values that are all alive at once. Each is held whole for
// nothing, or in shards for what it costs to gather it: that is cheaper as soon
// as the price of its bytes is above that.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/MemoryPrices.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <random>

using namespace shardonnay;

namespace {

struct Value {
  int64_t whole, shard;
  double gather;
};

struct ToyProgram {
  std::vector<Value> values;
  int64_t held = 0;
  /// What it costs to send all that is whole again where it is used, so that
  /// none is held.
  double again = 0;
  int plans = 0;

  PricedPlan plan(llvm::ArrayRef<double> prices) {
    ++plans;
    PricedPlan result;
    result.peak = result.held = held;
    for (auto [number, value] : llvm::enumerate(values)) {
      double saved = prices[number] * (value.whole - value.shard);
      bool isSharded = saved > value.gather;
      result.peak += isSharded ? value.shard : value.whole;
      result.cost += isSharded ? value.gather : 0;
      result.producers.push_back(number);
      if (!isSharded && again > 0) {
        result.peak -= value.whole;
        result.cost += again;
        result.sendsAgain = true;
      }
    }
    return result;
  }
  std::optional<std::vector<double>> fit(int64_t limit, int mostPlans = 24) {
    return findMemoryPrices(
        values.size(), limit, mostPlans,
        [&](llvm::ArrayRef<double> prices) { return plan(prices); });
  }
};

TEST(MemoryPrices, nothingHasAPriceWhereAllFits) {
  ToyProgram program{{{100, 25, 10}, {100, 25, 10}}};
  EXPECT_EQ(program.fit(200), std::vector<double>(2));
  EXPECT_EQ(program.plans, 1);
}

TEST(MemoryPrices, theCheapestIsSharded) {
  // The first is cheap to gather: the price that it takes leaves the second.
  ToyProgram program{{{100, 25, 8}, {100, 25, 800}}};
  std::vector<double> prices = *program.fit(130);
  EXPECT_EQ(program.plan(prices).peak, 125);
  EXPECT_EQ(program.plan(prices).cost, 8);
}

TEST(MemoryPrices, aPriceThatIsNotNeededIsTakenOff) {
  // All four are sharded by one price, where two are enough.
  ToyProgram program{std::vector<Value>(4, {100, 50, 5})};
  std::vector<double> prices = *program.fit(300);
  EXPECT_EQ(program.plan(prices).peak, 300);
  EXPECT_EQ(llvm::count(prices, 0), 2);
}

TEST(MemoryPrices, higherPricesMayBeCheaperThanToSendAgain) {
  ToyProgram program{{{100, 25, 100}, {100, 25, 100}}};
  program.again = 120;
  EXPECT_EQ(program.plan(*program.fit(60)).cost, 200);
  program.again = 80;
  EXPECT_EQ(program.plan(*program.fit(60)).cost, 160);
}

TEST(MemoryPrices, whatCannotBeMetIsNoReasonToSendMore) {
  ToyProgram program{{{100, 25, 10}}, /*held=*/50};
  EXPECT_EQ(program.fit(40), std::vector<double>(1));
}

TEST(MemoryPrices, theLeastWhereNoneFits) {
  ToyProgram program{{{100, 25, 10}, {100, 25, 1e9}}};
  EXPECT_EQ(program.plan(*program.fit(60)).peak, 125);
}

TEST(MemoryPrices, aProgramWithoutAPlan) {
  EXPECT_FALSE(findMemoryPrices(1, 10, 24, [](llvm::ArrayRef<double>) {
    return std::optional<PricedPlan>();
  }));
}

TEST(MemoryPrices, noMorePlansThanAllowedAndNoneWorseThanTheFirst) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    ToyProgram program;
    int64_t whole = 0, shards = 0;
    for (size_t i = 0, e = 1 + random() % 12; i < e; ++i) {
      int64_t size = 1 + random() % 100;
      program.values.push_back({4 * size, size, double(random() % 400)});
      whole += 4 * size;
      shards += size;
    }
    int64_t limit = shards + random() % (whole - shards + 1);
    std::vector<double> prices = *program.fit(limit);
    EXPECT_LE(program.plans, 24);
    // A price of 32 shards each of these.
    EXPECT_LE(program.plan(prices).peak, limit);
  }
}

} // namespace
