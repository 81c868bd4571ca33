//===- CollectiveTest.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/cost/DeviceModel.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

TEST(Collective, formulas) {
  // 96 bytes a device, groups of 4.
  EXPECT_EQ(collectiveCost(CollectiveKind::Slice, 4, 96), (Cost{0, 0}));
  EXPECT_EQ(collectiveCost(CollectiveKind::AllGather, 4, 96), (Cost{288, 3}));
  EXPECT_EQ(collectiveCost(CollectiveKind::AllToAll, 4, 96), (Cost{72, 3}));
  EXPECT_EQ(collectiveCost(CollectiveKind::ReduceScatter, 4, 96),
            (Cost{72, 3}));
  EXPECT_EQ(collectiveCost(CollectiveKind::AllReduce, 4, 96), (Cost{144, 5}));
  EXPECT_EQ(collectiveCost(CollectiveKind::AllReduce, 1, 96), Cost());
}

TEST(Collective, bytesRoundUp) {
  // A float over 3 devices: 2 * 4 * 2 / 3 = 5.33.
  EXPECT_EQ(collectiveCost(CollectiveKind::AllReduce, 3, 4).bytes, 6);
}

TEST(Collective, MoreThanCountsIsTheLargestNumber) {
  int64_t most = std::numeric_limits<int64_t>::max(), bytes = int64_t(1) << 61;
  Cost gather = collectiveCost(CollectiveKind::AllGather, 1 << 20, bytes);
  EXPECT_EQ(gather.bytes, most);
  gather += gather;
  EXPECT_EQ(gather.bytes, most);
  EXPECT_EQ(collectiveCost(CollectiveKind::AllReduce, 2, bytes).bytes, bytes);
}

TEST(Collective, names) {
  EXPECT_EQ(toString(CollectiveKind::AllToAll), "all_to_all");
  EXPECT_EQ(toString(CollectiveKind::ReduceScatter), "reduce_scatter");
}

double priceOf(const Cost &cost) { return MeshCosts().price(cost, {}); }

RC_GTEST_PROP(Collective, mergedIsNeverDearer, ()) {
  int64_t n = *rc::gen::inRange<int64_t>(2, 20);
  int64_t m = *rc::gen::inRange<int64_t>(2, 20);
  int64_t bytes = n * m * *rc::gen::inRange<int64_t>(0, 1000);
  auto kind = *rc::gen::element(
      CollectiveKind::AllToAll, CollectiveKind::AllGather,
      CollectiveKind::ReduceScatter, CollectiveKind::AllReduce);
  int64_t between = bytes;
  if (kind == CollectiveKind::AllGather)
    between = bytes * n;
  if (kind == CollectiveKind::ReduceScatter)
    between = bytes / n;
  Cost two = collectiveCost(kind, n, bytes);
  two += collectiveCost(kind, m, between);
  RC_ASSERT(collectiveCost(kind, n * m, bytes).bytes <= two.bytes);
  RC_ASSERT(priceOf(collectiveCost(kind, n * m, bytes)) < priceOf(two));
}

TEST(Collective, reduceScatterAndGatherAreAnAllReduce) {
  Cost two = collectiveCost(CollectiveKind::ReduceScatter, 8, 1024);
  two += collectiveCost(CollectiveKind::AllGather, 8, 128);
  Cost one = collectiveCost(CollectiveKind::AllReduce, 8, 1024);
  EXPECT_EQ(one.bytes, two.bytes);
  EXPECT_LT(priceOf(one), priceOf(two));
}

} // namespace
