//===- PermuteSearchTest.cpp ----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/PermuteSearch.h"
#include "shardonnay/algebra/Generators.h"
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

constexpr double kAnyPrice = std::numeric_limits<double>::infinity();

Layout layout(std::vector<AxisList> dims, int64_t size, AxisList partial = {}) {
  Layout layout;
  layout.dims.assign(dims.begin(), dims.end());
  layout.padded.assign(dims.size(), size);
  layout.partial = std::move(partial);
  return layout;
}

std::string print(const std::optional<Steps> &steps) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (steps)
    llvm::interleave(*steps, os, "; ");
  return text;
}

TEST(PermuteSearch, movesWhatADimLacks) {
  AxisRef x{0, 1, 2}, y{1, 1, 4};
  ReshardProblem problem{Mesh({2, 4}), layout({{x}, {y}}, 16),
                         layout({{y}, {x}}, 16), 4};
  EXPECT_EQ(print(PermuteSearch(problem).run(kAnyPrice)),
            "all_to_all 1 -> 0 [1:(2)2]; "
            "collective_permute [0:(1)2, 1:(1)4]");
}

TEST(PermuteSearch, slicesWhatIsFreeAndGathersWhatIsLeft) {
  AxisRef x{0, 1, 4}, y{1, 1, 8};
  Mesh mesh({4, 8});
  ReshardProblem sliced{mesh, layout({{y}, {}}, 64), layout({{x}, {y}}, 64), 4};
  EXPECT_EQ(print(PermuteSearch(sliced).run(kAnyPrice)),
            "slice 1 [0:(1)4]; all_to_all 0 -> 1 [1:(4)2]; "
            "collective_permute [0:(1)4, 1:(1)8]");
  ReshardProblem gathered{mesh, layout({{x, y}, {}}, 64), layout({{y}, {}}, 64),
                          4};
  EXPECT_EQ(print(PermuteSearch(gathered).run(kAnyPrice)),
            "collective_permute [0:(1)4, 1:(1)8]; all_gather 0 [0:(1)4]");
}

TEST(PermuteSearch, exchangesBehindThePermuteWhatIsNoSuffix) {
  AxisRef x{0, 1, 4}, y{1, 1, 3};
  ReshardProblem problem{Mesh({4, 3}), layout({{y, x}, {}}, 24),
                         layout({{x}, {y}}, 24), 4};
  EXPECT_EQ(print(PermuteSearch(problem).run(kAnyPrice)),
            "collective_permute [0:(1)4, 1:(1)3]; all_to_all 0 -> 1 [1:(1)3]");
}

TEST(PermuteSearch, findsNothingAtThePriceThatIsKnown) {
  AxisRef x{0, 1, 4};
  ReshardProblem problem{Mesh({4, 4}), layout({{x}, {}}, 16),
                         layout({{{1, 1, 4}}, {}}, 16), 4};
  PermuteSearch search(problem);
  ASSERT_TRUE(search.run(kAnyPrice));
  EXPECT_FALSE(search.run(search.getPrice()));
}

/// Whatever the layouts, what is found is a plan, and costs what is said.
RC_GTEST_PROP(PermuteSearch, findsPlans, ()) {
  Mesh mesh = gen::mesh();
  int64_t rank = 1 + gen::below(4);
  std::vector<AxisRef> parts = gen::splitting(mesh);
  ReshardProblem problem;
  problem.mesh = mesh;
  problem.source = gen::unpadded(parts, rank, true);
  problem.target = gen::unpadded(parts, rank, false);
  gen::pad(problem.source, problem.target);
  PermuteSearch search(problem);
  std::optional<Steps> steps = search.run(kAnyPrice);
  RC_PRE(steps.has_value());
  ReshardPlan plan;
  plan.steps = *steps;
  finishPlan(problem, plan);
  std::string error;
  RC_LOG() << print(steps);
  RC_ASSERT(verifyPlan(problem, plan, error));
  RC_ASSERT(std::abs(plan.price - search.getPrice()) <= 1e-6 * plan.price);
}

/// The layouts on the way to a permute are told apart by counts alone, so five
/// axes of up to 16 are no more work than two: all is found in a small budget.
TEST(PermuteSearch, manyAxesAreFoundWithinASmallBudget) {
  Mesh mesh({4, 8, 2, 16, 16});
  AxisRef a{0, 1, 4}, b{1, 1, 8}, c{2, 1, 2}, d{3, 1, 16}, e{4, 1, 16};
  ReshardProblem problem{mesh, layout({{a, d}, {b}, {c, e}}, 1 << 14),
                         layout({{e, b}, {d, c}, {a}}, 1 << 14), 2};
  std::string error;
  std::optional<ReshardPlan> plan =
      planReshard(problem, error, {/*states=*/6400});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->optimal);
}

} // namespace
