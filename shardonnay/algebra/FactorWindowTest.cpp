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
  CutWindow cut = cutWindow(window, shards, localSize);
  int64_t count = llvm::divideCeil(window.count, shards);
  int64_t span = (cut.size - 1) * cut.baseDilation + 1 + cut.low + cut.high;
  int64_t slides = std::abs(window.stride);
  if (count > 0) {
    EXPECT_EQ(span, (count - 1) * slides + window.extent);
  }
  for (int64_t shard = 0; shard < shards; ++shard)
    for (int64_t w = 0; w < count; ++w)
      for (int64_t e = 0; e < window.extent; ++e) {
        auto whole =
            elementAt((shard * count + w) * window.stride - window.low + e,
                      window.baseDilation);
        // A turned window's first result sees the last that was fetched.
        int64_t turned = window.stride < 0 ? count - 1 - w : w;
        auto fetched =
            elementAt(turned * slides + e - cut.low, cut.baseDilation);
        if (cut.isDilatedFirst && fetched)
          fetched = elementAt(*fetched + cut.start + shard * cut.step,
                              window.baseDilation);
        else if (fetched)
          fetched = *fetched + cut.start + shard * cut.step;
        EXPECT_EQ(whole, fetched);
        if (!cut.isDilatedFirst && whole && fetched) {
          int64_t at = *fetched - cut.start - shard * cut.step;
          EXPECT_TRUE(at >= 0 && at < cut.size);
        }
      }
}

TEST(FactorWindowTest, AKernelOfThreeSeesOneMoreOnBothSides) {
  FactorWindow window;
  window.size = window.count = 16;
  window.low = 1;
  window.extent = 3;
  CutWindow cut = cutWindow(window, 4, 4);
  EXPECT_EQ(cut.start, -1);
  EXPECT_EQ(cut.step, 4);
  EXPECT_EQ(cut.size, 6);
  EXPECT_EQ(cut.low, 0);
  EXPECT_EQ(cut.high, 0);
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

} // namespace
