//===- WindowPlanTest.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans are simulated on a dim whose element p is p.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/WindowPlan.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace shardonnay;

namespace {

constexpr int64_t kNothing = -1000;
using Data = std::vector<int64_t>;

/// What each position holds of the dim.
std::vector<Data> held(const WindowProblem &problem) {
  std::vector<Data> data;
  for (int64_t p = 0; p < problem.mesh.numDevices(); ++p) {
    Data &local = data.emplace_back();
    for (int64_t i = 0; i < problem.localSize; ++i) {
      int64_t at = problem.mesh.index(problem.axes, p) * problem.localSize + i;
      local.push_back(at < problem.globalSize ? at : kNothing);
    }
  }
  return data;
}

std::vector<Data> gathered(const WindowProblem &problem,
                           const std::vector<Data> &data) {
  std::vector<Data> whole(data.size());
  for (llvm::ArrayRef<int64_t> group : problem.mesh.groups(problem.axes))
    for (int64_t target : group)
      for (int64_t source : group)
        whole[target].insert(whole[target].end(), data[source].begin(),
                             data[source].end());
  return whole;
}

/// What each position has of a piece.
std::vector<Data> simulate(const WindowPiece &piece,
                           const WindowProblem &problem,
                           const std::vector<Data> &data) {
  auto part = [&](int64_t source, int64_t target) {
    int64_t window = problem.mesh.index(problem.windowAxes, target);
    int64_t start =
        piece.starts.empty() ? piece.part.start : piece.starts[window];
    return Data(data[source].begin() + start,
                data[source].begin() + start + piece.width);
  };
  std::vector<Data> result;
  for (size_t p = 0; p < data.size(); ++p)
    result.push_back(piece.own ? part(p, p) : Data(piece.width, kNothing));
  for (const auto &round : piece.rounds)
    for (auto [source, target] : round)
      result[target] = part(source, target);
  return result;
}

/// By what the plan says that devices do.
WindowCost costOf(const WindowProblem &problem, const WindowPlan &plan) {
  if (plan.gathers)
    return {problem.localSize * (problem.axes.numShards() - 1), 1, true};
  WindowCost cost;
  for (const WindowPiece &piece : plan.pieces) {
    auto rounds = static_cast<int64_t>(piece.rounds.size());
    cost.received += rounds * piece.width;
    cost.collectives += rounds;
  }
  return cost;
}

void checkCost(const WindowProblem &problem, const WindowPlan &plan) {
  WindowCost expected = costOf(problem, plan), cost = costOfWindows(problem);
  EXPECT_EQ(cost.received, expected.received);
  EXPECT_EQ(cost.collectives, expected.collectives);
  EXPECT_EQ(cost.gathers, expected.gathers);
}

void check(const WindowProblem &problem) {
  if (problem.isEmpty())
    return;
  WindowPlan plan = planWindows(problem);
  checkCost(problem, plan);
  std::vector<Data> data = held(problem);
  if (plan.gathers)
    data = gathered(problem, data);
  std::vector<Data> buffers(data.size(), Data(plan.low, kNothing));
  for (const WindowPiece &piece : plan.pieces) {
    std::vector<Data> parts = simulate(piece, problem, data);
    for (size_t p = 0; p < data.size(); ++p)
      buffers[p].insert(buffers[p].end(), parts[p].begin(), parts[p].end());
  }
  for (size_t p = 0; p < data.size(); ++p) {
    buffers[p].resize(buffers[p].size() + plan.high, kNothing);
    int64_t window = problem.mesh.index(problem.windowAxes, p);
    int64_t offset = plan.offsets[window];
    ASSERT_GE(offset, 0);
    ASSERT_LE(offset + problem.size, static_cast<int64_t>(buffers[p].size()));
    for (int64_t j = 0; j < problem.size; ++j) {
      int64_t at = problem.windowStart(window) + j;
      if (problem.periodic)
        at = llvm::mod(at, problem.globalSize);
      if (at >= 0 && at < problem.globalSize) {
        ASSERT_EQ(buffers[p][offset + j], at);
      }
    }
  }
}

/// Checks for a periodic dim that does not fill its shards that each position
/// of a window exists in some period's.
void checkParts(const WindowProblem &problem) {
  auto parts = withoutUnevenPeriods(problem);
  for (const WindowProblem &part : parts)
    check(part);
  if (parts.size() == 1 && parts[0].periodic == problem.periodic)
    return;
  for (int64_t w = 0; w < problem.windowAxes.numShards(); ++w)
    for (int64_t j = 0; j < problem.size; ++j) {
      int64_t at = llvm::mod(problem.windowStart(w) + j, problem.globalSize);
      EXPECT_EQ(llvm::count_if(parts,
                               [&](const WindowProblem &part) {
                                 return part.windowStart(w) + j == at;
                               }),
                1);
    }
}

const Mesh kMesh({2, 4});
const AxisRef kX{0, 1, 2}, kY{1, 1, 4};

TEST(WindowPlanTest, AHaloTakesTwoPermutesOfOneElement) {
  WindowProblem problem{
      Mesh({4}), {AxisRef{0, 1, 4}}, {AxisRef{0, 1, 4}}, 4, 16, -1, 4, 6};
  WindowPlan plan = planWindows(problem);
  check(problem);
  EXPECT_FALSE(plan.gathers);
  ASSERT_EQ(plan.pieces.size(), 3u);
  EXPECT_EQ(plan.pieces[0].part, (Interval{3, 4}));
  EXPECT_EQ(plan.pieces[0].rounds.size(), 1u);
  EXPECT_TRUE(plan.pieces[1].rounds.empty());
  EXPECT_EQ(plan.pieces[2].part, (Interval{0, 1}));
  EXPECT_EQ(costOf(problem, plan).received, 2);
}

TEST(WindowPlanTest, TheOwnShardTakesNothing) {
  WindowProblem problem{kMesh, {kY}, {kY}, 3, 10, 0, 3, 3};
  check(problem);
  EXPECT_EQ(costOfWindows(problem).received, 0);
}

TEST(WindowPlanTest, ANestedShardingTakesNothing) {
  WindowProblem problem{kMesh, {kX}, {kX, kY}, 8, 16, 0, 2, 2};
  check(problem);
  EXPECT_EQ(costOfWindows(problem).received, 0);
}

TEST(WindowPlanTest, AShardThatIsSpreadSendsEachItsPart) {
  // The second quarter, which one device has, over all four.
  WindowProblem problem{
      Mesh({4}), {AxisRef{0, 1, 4}}, {AxisRef{0, 1, 4}}, 8, 32, 8, 2, 2};
  WindowPlan plan = planWindows(problem);
  check(problem);
  EXPECT_FALSE(plan.gathers);
  ASSERT_EQ(plan.pieces.size(), 1u);
  EXPECT_EQ(plan.pieces[0].rounds.size(), 3u);
  EXPECT_EQ(costOf(problem, plan).received, 6);
}

TEST(WindowPlanTest, ARotationTakesOnePermute) {
  WindowProblem problem{kMesh, {kY}, {kY}, 4, 16, -1, 4, 4, /*periodic=*/true};
  check(problem);
  WindowPlan plan = planWindows(problem);
  EXPECT_EQ(costOf(problem, plan).received, 1);
  EXPECT_EQ(costOf(problem, plan).collectives, 1);
}

TEST(WindowPlanTest, SmallerWindowsTakeWhatIsNotTheirOwn) {
  WindowProblem problem{kMesh, {kY}, {kY}, 6, 24, 0, 5, 5};
  check(problem);
  EXPECT_EQ(costOfWindows(problem).received, 3);
  EXPECT_EQ(costOfWindows(problem).collectives, 1);
}

TEST(WindowPlanTest, WindowsThatDriftBothWaysTakeFromBothNeighbours) {
  WindowProblem problem{kMesh, {kY}, {kY}, 18, 72, 4, 16, 16};
  check(problem);
  EXPECT_EQ(costOfWindows(problem).received, 4);
  EXPECT_EQ(costOfWindows(problem).collectives, 2);
}

TEST(WindowPlanTest, TheWholeDimIsGathered) {
  WindowProblem problem{kMesh, {kY}, {}, 3, 10, 0, 0, 10};
  check(problem);
  EXPECT_TRUE(planWindows(problem).gathers);
}

TEST(WindowPlanTest, AWindowOfAWholeDimIsPaddedAlone) {
  WindowProblem problem{kMesh, {}, {kY}, 100, 100, -1, 25, 27};
  check(problem);
  WindowPlan plan = planWindows(problem);
  ASSERT_EQ(plan.pieces.size(), 1u);
  EXPECT_EQ(plan.pieces[0].width, 27);
  EXPECT_EQ(plan.low, 1);
  EXPECT_EQ(plan.high, 1);
}

TEST(WindowPlanTest, WindowsHoldWhatTheySay) {
  const AxisList lists[] = {{},
                            {kX},
                            {kY},
                            {kX, kY},
                            {kY, kX},
                            {AxisRef{1, 1, 2}},
                            {AxisRef{1, 2, 2}}};
  std::mt19937 random(0);
  auto number = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 30000; ++i) {
    WindowProblem problem;
    problem.mesh = kMesh;
    problem.axes = lists[number(0, 6)];
    problem.windowAxes = number(0, 1) ? problem.axes : lists[number(0, 6)];
    problem.globalSize = number(1, 20);
    int64_t shards = problem.axes.numShards();
    problem.localSize =
        llvm::divideCeil(problem.globalSize, shards) + number(0, 1);
    problem.start = number(-12, 24);
    problem.step = number(0, 1) ? problem.localSize : number(-8, 8);
    problem.size = number(1, 12);
    problem.periodic = i % 3 == 0;
    SCOPED_TRACE(i);
    checkParts(problem);
    if (HasFatalFailure())
      return;
  }
}

// Of 2^59 zeros before the dim nobody has anything; nor are they pieces.
TEST(WindowPlan, WindowsThatBeginFarOutside) {
  int64_t far = int64_t(1) << 59;
  int64_t size = far / 4 + 2;
  WindowProblem problem{Mesh({4}), {{0, 1, 4}}, {{0, 1, 4}}, 2,    8,
                        -far,      size,        size,        false};
  WindowPlan plan = planWindows(problem);
  EXPECT_LE(plan.pieces.size(), 4u);
  EXPECT_LE(costOf(problem, plan).received, 6);
  // Windows 0 to 2 are far from the dim, and from each other.
  problem.windowAxes = {{0, 1, 4}};
  problem.start = -3 * far;
  problem.step = far;
  problem.size = far / 2;
  EXPECT_LE(planWindows(problem).pieces.size(), 4u);
}

} // namespace
