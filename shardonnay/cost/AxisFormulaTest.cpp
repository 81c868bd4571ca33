//===- AxisFormulaTest.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/cost/AxisFormula.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

const std::vector<std::string> kNames = {"x", "y"};

TEST(AxisFormulaTest, FoldsConstants) {
  AxisFormula two = 2;
  EXPECT_EQ((two + 3).str(kNames), "5");
  EXPECT_EQ((two * 3 - 6).str(kNames), "0");
  EXPECT_EQ(AxisFormula::ceilDiv(7, 2).str(kNames), "4");
  EXPECT_EQ(AxisFormula::othersShare(7, 2).str(kNames), "4");
}

TEST(AxisFormulaTest, Prints) {
  Mesh mesh({4, 8});
  AxisFormula x = AxisFormula::sizeOf(mesh.fullAxis(0), mesh),
              y = AxisFormula::sizeOf(mesh.fullAxis(1), mesh);
  EXPECT_EQ((x * 4 * (y - 1)).str(kNames), "4 * x * (y - 1)");
  EXPECT_EQ((AxisFormula(2) * (x * 4)).str(kNames), "8 * x");
  EXPECT_EQ((x - (y - 1)).str(kNames), "x - (y - 1)");
  EXPECT_EQ(AxisFormula::ceilDiv(8, x * y).str(kNames), "ceil(8 / (x * y))");
  EXPECT_EQ(AxisFormula::othersShare(x + y, y).str(kNames),
            "ceil((x + y) * (y - 1) / y)");
}

// A major part is of one size; what is left grows with the axis.
TEST(AxisFormulaTest, SubAxes) {
  Mesh mesh({8});
  EXPECT_EQ(AxisFormula::sizeOf({0, 1, 2}, mesh).str(kNames), "2");
  AxisFormula rest = AxisFormula::sizeOf({0, 2, 4}, mesh);
  EXPECT_EQ(rest.str(kNames), "ceil(x / 2)");
  EXPECT_EQ(rest.evaluate({16}), 8);
}

RC_GTEST_PROP(AxisFormulaTest, BytesAreTheCounts, ()) {
  int64_t n = *rc::gen::inRange<int64_t>(2, 64),
          bytes = *rc::gen::inRange<int64_t>(0, 1 << 20);
  Mesh mesh({n});
  AxisFormula group = AxisFormula::sizeOf(mesh.fullAxis(0), mesh);
  for (CollectiveKind kind :
       {CollectiveKind::Slice, CollectiveKind::Permute,
        CollectiveKind::AllToAll, CollectiveKind::AllGather,
        CollectiveKind::ReduceScatter, CollectiveKind::AllReduce})
    RC_ASSERT(collectiveBytes(kind, group, bytes).evaluate({n}) ==
              collectiveCost(kind, n, bytes).bytes);
}

} // namespace
