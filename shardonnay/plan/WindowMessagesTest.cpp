//===- WindowMessagesTest.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/WindowMessages.h"
#include <gtest/gtest.h>

using namespace shardonnay;

namespace {

/// 8 positions on 4 devices: device i has [2 * i, + 2) and needs
/// [start + 2 * i, + size).
WindowProblem window(int64_t start, int64_t size) {
  WindowProblem problem;
  problem.mesh = Mesh({4});
  problem.axes = problem.windowAxes = problem.mesh.allAxes();
  problem.localSize = 2;
  problem.globalSize = 8;
  problem.start = start;
  problem.step = 2;
  problem.size = size;
  return problem;
}

TEST(WindowMessagesTest, theFirstCountsWhole) {
  WindowMessages messages;
  std::optional<LocalCollective> found = messages.add(window(-1, 4), 10);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cost.bytes, 20);
  EXPECT_EQ(found->count, 2);
}

TEST(WindowMessagesTest, anEqualOneIsFree) {
  WindowMessages messages;
  messages.add(window(-1, 4), 10);
  EXPECT_FALSE(messages.add(window(-1, 4), 10));
}

TEST(WindowMessagesTest, oneSideOfTwoIsShared) {
  WindowMessages messages;
  messages.add(window(0, 3), 10);
  std::optional<LocalCollective> both = messages.add(window(-1, 4), 10);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->cost.bytes, 10);
  EXPECT_EQ(both->count, 1);
  EXPECT_EQ(both->cost.steps, windowCollective(window(0, 3), 10)->cost.steps);
  EXPECT_FALSE(messages.add(window(-1, 3), 10));
}

TEST(WindowMessagesTest, anotherPartIsAnotherMessage) {
  WindowMessages messages;
  messages.add(window(0, 3), 10);
  std::optional<LocalCollective> wider = messages.add(window(0, 4), 10);
  ASSERT_TRUE(wider);
  EXPECT_EQ(wider->cost.bytes, 20);
}

TEST(WindowMessagesTest, whatIsGatheredIsGatheredOnce) {
  WindowMessages messages;
  WindowProblem all = window(0, 8);
  all.step = 0;
  std::optional<LocalCollective> gather = messages.add(all, 10);
  ASSERT_TRUE(gather);
  EXPECT_EQ(gather->kind, CollectiveKind::AllGather);
  all.size = 7;
  EXPECT_FALSE(messages.add(all, 10));
}

TEST(WindowMessagesTest, aGatherServesWindowsToo) {
  WindowProblem all = window(0, 8);
  all.step = 0;
  WindowMessages before, behind;
  EXPECT_TRUE(before.addGather(all.axes));
  EXPECT_FALSE(before.add(all, 10));
  behind.add(all, 10);
  EXPECT_FALSE(behind.addGather(all.axes));
}

TEST(WindowMessagesTest, whatNeedsNothingSharesNothing) {
  WindowMessages messages;
  EXPECT_FALSE(messages.add(window(0, 2), 10));
  EXPECT_TRUE(messages.add(window(0, 3), 10));
}

} // namespace
