//===- DirectWindowTest.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/DirectWindow.h"
#include <gtest/gtest.h>

using namespace shardonnay;

namespace {

WindowProblem halo(int64_t globalSize, int64_t before, int64_t size) {
  WindowProblem problem;
  problem.mesh = Mesh({4});
  problem.axes = problem.windowAxes = problem.mesh.allAxes();
  problem.localSize = (globalSize + 3) / 4;
  problem.globalSize = globalSize;
  problem.start = -before;
  problem.step = problem.localSize;
  problem.size = size;
  return problem;
}

// A device in the middle sends a position to both sides.
TEST(DirectWindowTest, Halo) {
  std::optional<LocalCollective> found = directWindow(halo(8, 1, 4), 10);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cost.bytes, 20);
  EXPECT_EQ(found->count, 2);
}

TEST(DirectWindowTest, NothingToSend) {
  EXPECT_FALSE(directWindow(halo(8, 0, 2), 10));
}

// Those at the ends send to one side.
TEST(DirectWindowTest, PositionsOfEachDevice) {
  EXPECT_EQ(positionsSent(halo(8, 1, 4)), (std::vector<int64_t>{1, 2, 2, 1}));
  EXPECT_EQ(positionsSent(halo(8, 0, 2)), (std::vector<int64_t>{0, 0, 0, 0}));
}

// A rotation: each sends one position to one device, the last to the first too.
TEST(DirectWindowTest, Periodic) {
  WindowProblem problem = halo(8, 1, 2);
  problem.periodic = true;
  std::optional<LocalCollective> found = directWindow(problem, 10);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cost.bytes, 10);
}

// Windows that all reach to the first shard: it sends to three.
TEST(DirectWindowTest, Hull) {
  WindowProblem problem = halo(8, 0, 1);
  problem.step = 0;
  std::optional<LocalCollective> found = directWindow(problem, 10);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cost.bytes, 30);
}

} // namespace
