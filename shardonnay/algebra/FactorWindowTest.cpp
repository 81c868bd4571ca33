//===- FactorWindowTest.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/FactorWindow.h"
#include "llvm/Support/MathExtras.h"
#include <gtest/gtest.h>
#include <random>

using namespace shardonnay;

namespace {

/// The element at `base` of a dim with holes; nothing in a hole.
std::optional<int64_t> elementAt(int64_t base, int64_t dilation) {
  if (llvm::mod(base, dilation) != 0)
    return std::nullopt;
  return llvm::divideFloorSigned(base, dilation);
}

/// What windows see of what was fetched is what they see of the whole.
void check(const FactorWindow &window, int64_t shards, int64_t localSize) {
  ShardWindow sharded = shardWindow(window, shards, localSize);
  int64_t count = llvm::divideCeil(window.count, shards);
  int64_t filled = (sharded.size - 1) * sharded.baseDilation + 1 + sharded.low +
                   sharded.high;
  int64_t farthest =
      std::max<int64_t>(sharded.shift * (shards - 1), 0) + sharded.shiftStart;
  if (window.count > 0) {
    EXPECT_EQ(filled, farthest + sharded.covered);
  }
  EXPECT_GE(sharded.shiftStart, 0);
  EXPECT_GE(sharded.shiftStart + sharded.shift * (shards - 1), 0);
  int64_t slides = std::abs(window.stride);
  if (count > 0) {
    EXPECT_EQ(sharded.covered, (count - 1) * slides + window.extent);
  }
  for (int64_t shard = 0; shard < shards; ++shard)
    for (int64_t w = 0; w < count; ++w)
      for (int64_t e = 0; e < window.extent; ++e) {
        auto whole =
            elementAt((shard * count + w) * window.stride - window.low + e,
                      window.baseDilation);
        // A turned window's first result sees the last that was fetched.
        int64_t turned = window.stride < 0 ? count - 1 - w : w;
        int64_t cut = sharded.shiftStart + sharded.shift * shard;
        auto fetched = elementAt(cut + turned * slides + e - sharded.low,
                                 sharded.baseDilation);
        if (fetched)
          fetched = *fetched + sharded.start + shard * sharded.step;
        if (sharded.isDilatedFirst && fetched)
          fetched = elementAt(*fetched, window.baseDilation);
        EXPECT_EQ(whole, fetched);
        if (!sharded.isDilatedFirst && whole && fetched) {
          int64_t at = *fetched - sharded.start - shard * sharded.step;
          EXPECT_TRUE(at >= 0 && at < sharded.size);
        }
      }
}

TEST(FactorWindowTest, AKernelOfThreeSeesOneMoreOnBothSides) {
  FactorWindow window;
  window.size = window.count = 16;
  window.low = 1;
  window.extent = 3;
  ShardWindow sharded = shardWindow(window, 4, 4);
  EXPECT_EQ(sharded.start, -1);
  EXPECT_EQ(sharded.step, 4);
  EXPECT_EQ(sharded.size, 6);
  EXPECT_EQ(sharded.low, 0);
  EXPECT_EQ(sharded.high, 0);
}

TEST(FactorWindowTest, WindowsSeeWhatTheySeeOfTheWhole) {
  std::mt19937 random(0);
  auto number = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 5000; ++i) {
    FactorWindow window;
    window.size = number(1, 20);
    window.count = number(1, 20);
    window.stride = number(1, 4);
    window.low = number(-6, 6);
    window.extent = number(1, 5);
    window.baseDilation = number(0, 1) ? 1 : number(1, 3);
    if (number(0, 5) == 0) {
      window.stride = -1;
      window.extent = window.baseDilation = 1;
    }
    int64_t shards = number(1, 5);
    SCOPED_TRACE(i);
    check(window, shards, llvm::divideCeil(window.size, shards));
    if (HasFailure())
      return;
  }
}

/// Checks for every shard that what was fetched has the windows that reach its
/// positions, and all that these see.
void checkReaching(FactorWindow window, int64_t shards) {
  window.kind = WindowKind::Reaching;
  ShardWindow sources = shardWindow(window, shards, 1);
  EXPECT_EQ(sources.globalSize, window.count);
  window.kind = WindowKind::Around;
  ShardWindow around = shardWindow(window, shards, 1);
  EXPECT_EQ(around.globalSize, window.size);
  int64_t part = llvm::divideCeil(window.size, shards);
  auto isFetched = [](const ShardWindow &sharded, int64_t shard, int64_t at) {
    int64_t start = sharded.start + sharded.step * shard;
    return start <= at && at < start + sharded.size;
  };
  for (int64_t shard = 0; shard < shards; ++shard)
    for (int64_t w = 0; w < window.count; ++w) {
      int64_t begin = w * window.stride - window.low;
      int64_t end = begin + window.extent;
      int64_t last = std::min((shard + 1) * part, window.size);
      if (end <= shard * part || begin >= last)
        continue;
      EXPECT_TRUE(isFetched(sources, shard, w));
      for (int64_t at = std::max<int64_t>(begin, 0);
           at < std::min(end, window.size); ++at)
        EXPECT_TRUE(isFetched(around, shard, at));
    }
}

TEST(FactorWindowTest, WindowsThatReachAShard) {
  // Device 1 has positions 4 to 7, which windows 2, 3 and 4 reach; they see
  // positions 3 to 9.
  FactorWindow window;
  window.size = 16;
  window.count = 8;
  window.stride = 2;
  window.low = 1;
  window.extent = 3;
  window.kind = WindowKind::Reaching;
  ShardWindow sharded = shardWindow(window, 4, 2);
  EXPECT_EQ(sharded.start + sharded.step, 2);
  EXPECT_EQ(sharded.size, 3);
  window.kind = WindowKind::Around;
  sharded = shardWindow(window, 4, 4);
  EXPECT_EQ(sharded.start + sharded.step, 3);
  EXPECT_EQ(sharded.size, 7);
}

TEST(FactorWindowTest, RandomWindowsThatReachAShard) {
  std::mt19937 random(3);
  auto upTo = [&](int64_t limit) {
    return static_cast<int64_t>(random() % (limit + 1));
  };
  for (int i = 0; i < 2000; ++i) {
    FactorWindow window;
    window.extent = 1 + upTo(6);
    window.stride = 1 + upTo(5);
    window.low = upTo(window.extent);
    window.size = 1 + upTo(40);
    window.count = 1 + upTo(window.size / window.stride + 1);
    checkReaching(window, 2 + upTo(6));
  }
}

// Six rows of 64 sharded by four: two, two, two and none; of 384 each has 96.
TEST(FactorWindowTest, RowsAreDividedIntoPlainShards) {
  FactorWindow window;
  window.kind = WindowKind::Retiled;
  window.size = 384;
  window.count = 6;
  window.stride = window.extent = 64;
  ShardWindow sharded = shardWindow(window, 4, 128);
  EXPECT_EQ(sharded.localSize, 128);
  EXPECT_EQ(sharded.globalSize, 384);
  EXPECT_EQ(sharded.start, 0);
  EXPECT_EQ(sharded.step, 96);
  EXPECT_EQ(sharded.size, 96);
}

} // namespace
