//===- ShardingStepTest.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps on whole shardings: from dims to factors, one step, and back.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/FactorPropagation.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace shardonnay;

namespace {

/// Axes x and y, of size 4 each, and halves of y.
constexpr AxisRef kX{0, 1, 4}, kY{1, 1, 4}, kYMajor{1, 1, 2}, kYMinor{1, 2, 2};

TensorSharding open(llvm::ArrayRef<AxisList> dims) {
  TensorSharding sharding = TensorSharding::fullyOpen(dims.size());
  for (auto [i, axes] : llvm::enumerate(dims))
    sharding.dims[i].axes = axes;
  return sharding;
}

/// What a step makes of the shardings of all tensors.
std::vector<TensorSharding> step(const FactorRule &rule,
                                 std::vector<TensorSharding> tensors,
                                 bool aggressive,
                                 Direction direction = Direction::Both) {
  std::vector<TensorProjection> rows;
  for (auto [i, sharding] : llvm::enumerate(tensors))
    rows.push_back(project(sharding, rule.tensor(i), rule.factors));
  llvm::SmallVector<Direction> directions(rule.factors.size(), direction);
  if (aggressive)
    propagateAggressive(rule, directions, /*elementwise=*/false, rows);
  else
    propagateBasic(rule, directions, rows);
  for (auto [i, sharding] : llvm::enumerate(tensors))
    sharding = unproject(rows[i], rule.tensor(i), rule.factors, sharding);
  return tensors;
}

/// C[i, j] = A[i, k] B[k, j] of the talk: i = 8, j = 16, k = 32.
FactorRule dot() {
  FactorRuleBuilder builder({2, 2}, {2});
  builder.add(8, {0, -1}, {0});
  builder.add(16, {-1, 1}, {1});
  builder.add(32, {1, 0}, {-1}, FactorKind::Reduction);
  return builder.build();
}

/// [ij, k] -> [i, jk] of the talk: i = 8, j = 2, k = 4.
FactorRule reshape() {
  FactorRuleBuilder builder({2}, {2});
  builder.add(8, {0}, {0});
  builder.add(2, {0}, {1});
  builder.add(4, {1}, {1});
  return builder.build();
}

FactorRule identity(int64_t size) {
  FactorRuleBuilder builder({1}, {1});
  builder.add(size, {0}, {0});
  return builder.build();
}

TEST(Talk, Dot) {
  for (bool aggressive : {false, true}) {
    auto after =
        step(dot(),
             {open({AxisList{kX}, AxisList{kY}}),
              open({AxisList(), AxisList()}), open({AxisList(), AxisList()})},
             aggressive);
    EXPECT_EQ(after[0], open({AxisList{kX}, AxisList{kY}}));
    EXPECT_EQ(after[1], open({AxisList{kY}, AxisList()}));
    EXPECT_EQ(after[2], open({AxisList{kX}, AxisList()}));
  }
}

/// y is split between the factors i and j; each part goes where its factor is.
TEST(Talk, ReshapeSplitsAnAxis) {
  auto after = step(
      reshape(),
      {open({AxisList{kX, kY}, AxisList()}), open({AxisList(), AxisList()})},
      /*aggressive=*/false);
  EXPECT_EQ(after[0], open({AxisList{kX, kY}, AxisList()}));
  EXPECT_EQ(after[1], open({AxisList{kX, kYMajor}, AxisList{kYMinor}}));
}

/// The other way the parts become one axis again.
TEST(CompoundFactors, PartsAreMerged) {
  auto after = step(reshape(),
                    {open({AxisList(), AxisList()}),
                     open({AxisList{kX, kYMajor}, AxisList{kYMinor}})},
                    /*aggressive=*/false);
  EXPECT_EQ(after[0], open({AxisList{kX, kY}, AxisList()}));
}

/// A factor of a compound dim is sharded only if the one before it is full.
TEST(CompoundFactors, NoStridedSharding) {
  auto after =
      step(reshape(),
           {open({AxisList(), AxisList()}), open({AxisList(), {kYMajor}})},
           /*aggressive=*/false);
  EXPECT_EQ(after[0], open({AxisList(), AxisList()}));
}

/// An axis of size 4 on a major factor of size 6 overflows behind a half, and
/// what overflows counts as used.
TEST(Overflow, StopsAndIsUsed) {
  FactorRuleBuilder builder({1}, {2});
  builder.add(6, {0}, {0});
  builder.add(4, {0}, {1});
  auto after = step(builder.build(),
                    {open({AxisList{kY}}), open({AxisList(), AxisList()})},
                    /*aggressive=*/true);
  EXPECT_EQ(after[0], open({AxisList{kY}}));
  EXPECT_EQ(after[1], open({AxisList{kYMajor}, AxisList()}));
}

TEST(Conflicts, ReplicatedUnreducedAndClosedRefuse) {
  TensorSharding replicated = open({AxisList()}), unreduced = replicated,
                 closed = replicated;
  replicated.replicated = {kX};
  unreduced.unreduced = {kX};
  closed.dims[0].closed = true;
  for (const TensorSharding &refusing : {replicated, unreduced, closed})
    for (bool aggressive : {false, true}) {
      auto after =
          step(identity(16), {open({AxisList{kX}}), refusing}, aggressive);
      EXPECT_EQ(after[1], refusing);
    }
}

/// A part of an axis that is replicated leaves the part before it.
TEST(Conflicts, UpToThePartThatIsTaken) {
  TensorSharding partly = open({AxisList()});
  partly.replicated = {kYMinor};
  auto after =
      step(identity(16), {open({AxisList{kY}}), partly}, /*aggressive=*/true);
  EXPECT_EQ(after[1].dims[0].axes, AxisList{kYMajor});
}

TEST(Direction, LimitsWhoContributes) {
  auto forward = [](Direction direction) {
    return step(identity(16), {open({AxisList{kX}}), open({AxisList()})},
                /*aggressive=*/false, direction)[1];
  };
  EXPECT_EQ(forward(Direction::Forward), open({AxisList{kX}}));
  EXPECT_EQ(forward(Direction::Backward), open({AxisList()}));
  EXPECT_EQ(forward(Direction::None), open({AxisList()}));
}

} // namespace
