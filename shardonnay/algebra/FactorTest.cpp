//===- FactorTest.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/Factor.h"
#include <gtest/gtest.h>

using namespace shardonnay;

namespace {

FactorRule matmul() {
  FactorRuleBuilder builder({2, 2}, {2});
  builder.add(8, {0, -1}, {0});
  builder.add(16, {-1, 1}, {1});
  builder.add(4, {1, 0}, {-1}, FactorKind::Reduction);
  return builder.build();
}

/// 8x4 to 2x16.
FactorRule reshape() {
  FactorRuleBuilder builder({2}, {2});
  builder.add(2, {0}, {0});
  builder.add(4, {0}, {1});
  builder.add(4, {1}, {1});
  return builder.build();
}

std::string errorOf(const FactorRule &rule,
                    llvm::ArrayRef<llvm::SmallVector<int64_t>> shapes) {
  std::string error;
  return rule.verify(shapes, error) ? "" : error;
}

std::string print(const FactorRule &rule) {
  std::string text;
  llvm::raw_string_ostream(text) << rule;
  return text;
}

TEST(FactorRule, IsAnotherIfItCommunicates) {
  FactorRuleBuilder builder({1}, {1});
  FactorWindow window;
  window.factor = builder.add(8, {0}, {0}, FactorKind::Windowed);
  FactorRule alone = builder.build();
  FactorRule fetching = alone, summing = alone;
  fetching.windows.push_back(window);
  summing.sums.push_back({/*tensor=*/1, /*elementBytes=*/4});
  EXPECT_FALSE(alone.communicates());
  EXPECT_TRUE(fetching.communicates());
  EXPECT_TRUE(summing.communicates());
  EXPECT_FALSE(fetching == alone);
  FactorRule same = fetching;
  EXPECT_TRUE(same == fetching);
  EXPECT_FALSE(summing == alone);
}

TEST(Factor, builderGivesDimsMajorToMinor) {
  FactorRule rule = reshape();
  EXPECT_EQ(print(rule), "([ij, k])->([i, jk]) {i=2, j=4, k=4}");
  EXPECT_EQ(errorOf(rule, {{8, 4}, {2, 16}}), "");
  EXPECT_EQ(rule.results[0].dimOf(1), 1);
  EXPECT_EQ(rule.results[0].dimOf(7), -1);
}

TEST(Factor, reductions) {
  FactorRule rule = matmul();
  EXPECT_EQ(print(rule), "([i, k], [k, j])->([i, j]) "
                         "{i=8, j=16, k=4} reduction={k}");
  EXPECT_TRUE(rule.reducesOver(2));
  EXPECT_FALSE(rule.reducesOver(0));
  rule.factors[2].kind = FactorKind::Indexed;
  EXPECT_TRUE(rule.reducesOver(2));
  rule.factors[0].kind = FactorKind::Indexed;
  EXPECT_FALSE(rule.reducesOver(0));
}

TEST(Factor, printsEveryKind) {
  FactorRule rule = matmul();
  rule.factors[0].kind = FactorKind::Windowed;
  rule.factors[1].kind = FactorKind::NeedReplication;
  rule.factors[1].blocked = true;
  rule.factors[2].combiner = ReductionKind::Max;
  rule.custom = true;
  EXPECT_EQ(print(rule),
            "([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction(max)={k} "
            "windowed={i} need_replication={j} blocked={j} custom");
}

TEST(Factor, namesGoOnAfterZ) {
  FactorRuleBuilder builder({19}, {});
  for (int64_t dim = 0; dim < 19; ++dim)
    builder.add(2, {dim}, {});
  EXPECT_NE(print(builder.build()).find("y, z, z_1])->() {i=2"),
            std::string::npos);
}

TEST(Factor, verifyExplains) {
  FactorRule rule = matmul();
  EXPECT_EQ(errorOf(rule, {{8, 4}, {4, 16}, {8, 16}}), "");
  EXPECT_EQ(errorOf(rule, {{8, 4}, {4, 16}}),
            "the rule maps 3 tensors, but the operation has 2");
  EXPECT_EQ(errorOf(rule, {{8}, {4, 16}, {8, 16}}),
            "operand 0 has rank 1, but the rule maps 2 dims");
  EXPECT_EQ(errorOf(rule, {{8, 4}, {4, 16}, {8, 17}}),
            "dim 1 of result 0 has size 17, but its factors multiply to 16");

  rule.factors[1].kind = FactorKind::Windowed;
  EXPECT_EQ(errorOf(rule, {{8, 4}, {4, 16}, {8, 17}}), "");
  rule.factors[1].kind = FactorKind::Reduction;
  EXPECT_EQ(errorOf(rule, {{8, 4}, {4, 16}, {8, 16}}),
            "reduction factor j is in a result, expected it in operands only");

  rule = matmul();
  rule.factors.push_back({});
  EXPECT_EQ(errorOf(rule, {{8, 4}, {4, 16}, {8, 16}}),
            "factor l is in no tensor, expected it in at least one");
  rule.operands[0].dims[0].push_back(3);
  EXPECT_EQ(errorOf(rule, {{8, 4}, {4, 16}, {8, 16}}),
            "dim 0 of operand 0 has factor l of size 1 beside others, expected "
            "it to be left out");
  rule.operands[0].dims[0] = {2};
  EXPECT_EQ(errorOf(rule, {{4, 4}, {4, 16}, {8, 16}}),
            "dim 1 of operand 0 repeats factor k, expected each factor at most "
            "once in a tensor");
  rule.operands[0].dims[0] = {9};
  EXPECT_EQ(errorOf(rule, {{4, 4}, {4, 16}, {8, 16}}),
            "dim 0 of operand 0 names factor 9, but the rule has 4");
  rule.operands[0].dims[0] = {};
  EXPECT_EQ(errorOf(rule, {{4, 4}, {4, 16}, {8, 16}}),
            "dim 0 of operand 0 has no factor, expected at least one");
}

TEST(Factor, verifySurvivesHugeFactors) {
  FactorRuleBuilder builder({1}, {2});
  builder.add(int64_t{1} << 40, {0}, {0});
  builder.add(int64_t{1} << 40, {0}, {1});
  EXPECT_EQ(errorOf(builder.build(), {{0}, {1, 1}}),
            "dim 0 of operand 0 has size 0, but its factors multiply to more "
            "than 2^63");
}

} // namespace
