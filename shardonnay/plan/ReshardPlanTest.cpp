//===- ReshardPlanTest.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/ReshardPlan.h"
#include "shardonnay/algebra/Generators.h"
#include "shardonnay/plan/Refinement.h"
#include "shardonnay/plan/SliceMapsTesting.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

std::string print(const ReshardPlan &plan) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(plan.steps, os, "; ");
  return text;
}

std::string print(const Layout &layout) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << layout;
  return text;
}

/// A layout of a square tensor of size 24 a dim.
Layout layout(std::vector<AxisList> dims, AxisList partial = {}) {
  Layout result = Layout::replicated(std::vector<int64_t>(dims.size(), 24));
  llvm::copy(dims, result.dims.begin());
  result.partial = partial;
  return result;
}

/// The steps of the plan, which is verified; or the error.
std::string planned(const Mesh &mesh, const Layout &source,
                    const Layout &target) {
  ReshardProblem problem{mesh, source, target, 4};
  std::string error;
  std::optional<ReshardPlan> plan = planReshard(problem, error);
  if (!plan)
    return "error: " + error;
  if (!verifyPlan(problem, *plan, error))
    return "invalid: " + error;
  return print(*plan);
}

const Mesh kMesh({2, 2});
const AxisRef x{0, 1, 2}, y{1, 1, 2};

TEST(ReshardPlan, nothingToDo) {
  EXPECT_EQ(planned(kMesh, layout({{x}, {}}), layout({{x}, {}})), "");
}

TEST(ReshardPlan, oneStep) {
  EXPECT_EQ(planned(kMesh, layout({{x}, {}}), layout({{x, y}, {}})),
            "slice 0 [1:(1)2]");
  EXPECT_EQ(planned(kMesh, layout({{x, y}, {}}), layout({{x}, {}})),
            "all_gather 0 [1:(1)2]");
  EXPECT_EQ(planned(kMesh, layout({{x, y}, {}}), layout({{}, {}})),
            "all_gather 0 [0:(1)2, 1:(1)2]");
  EXPECT_EQ(planned(kMesh, layout({{x}, {}}), layout({{}, {x}})),
            "all_to_all 0 -> 1 [0:(1)2]");
  EXPECT_EQ(planned(kMesh, layout({{x, y}, {}}), layout({{}, {x, y}})),
            "all_to_all 0 -> 1 [0:(1)2, 1:(1)2]");
}

TEST(ReshardPlan, severalStepsWhereOneGoesOverSlowLinks) {
  DeviceModel model;
  model.link = {1e9, 0};
  model.axisLinks["y"] = {1e6, 0};
  ReshardProblem problem{kMesh, layout({{y, x}, {}}), layout({{}, {}}), 4,
                         MeshCosts(model, {"x", "y"})};
  std::string error;
  EXPECT_EQ(print(*planReshard(problem, error)),
            "all_to_all 0 -> 1 [0:(1)2]; all_gather 0 [1:(1)2]; "
            "all_gather 1 [0:(1)2]");
}

/// A sum of two is reduced, then twice as much gathered.
TEST(ReshardPlan, boundCountsLatency) {
  DeviceModel model;
  model.link = {1e9, 1};
  ReshardProblem problem{kMesh, layout({{x}, {}}, {y}), layout({{}, {}}), 4,
                         MeshCosts(model, {"x", "y"})};
  std::string error;
  ReshardPlan plan = *planReshard(problem, error);
  EXPECT_EQ(plan.cost.steps, 5);
  EXPECT_GE(leastPrice(problem), 5e9);
}

TEST(ReshardPlan, partialSums) {
  EXPECT_EQ(planned(kMesh, layout({{}, {}}, {x}), layout({{}, {}})),
            "all_reduce [0:(1)2]");
  EXPECT_EQ(planned(kMesh, layout({{}, {}}, {x, y}), layout({{}, {}})),
            "all_reduce [0:(1)2, 1:(1)2]");
  EXPECT_EQ(planned(kMesh, layout({{}, {}}, {x}), layout({{x}, {}})),
            "reduce_scatter 0 [0:(1)2]");
  EXPECT_EQ(planned(kMesh, layout({{}, {}}, {x, y}), layout({{y, x}, {}})),
            "reduce_scatter 0 [1:(1)2, 0:(1)2]");
  EXPECT_EQ(planned(kMesh, layout({{y}, {}}, {x}), layout({{y}, {x}})),
            "reduce_scatter 1 [0:(1)2]");
  EXPECT_EQ(planned(kMesh, layout({{}, {}}, {x, y}), layout({{}, {}}, {x})),
            "all_reduce [1:(1)2]");
  // A partial tensor is moved as it is.
  EXPECT_EQ(planned(kMesh, layout({{y}, {}}, {x}), layout({{}, {y}}, {x})),
            "all_to_all 0 -> 1 [1:(1)2]");
}

TEST(ReshardPlan, sliceBeforeReducing) {
  EXPECT_EQ(planned(kMesh, layout({{}, {}}, {x}), layout({{y}, {}})),
            "slice 0 [1:(1)2]; all_reduce [0:(1)2]");
}

TEST(ReshardPlan, swapsAreOnePermute) {
  EXPECT_EQ(planned(kMesh, layout({{x}, {y}}), layout({{y}, {x}})),
            "collective_permute [0:(1)2, 1:(1)2]");
  EXPECT_EQ(planned(kMesh, layout({{x, y}, {}}), layout({{y, x}, {}})),
            "collective_permute [0:(1)2, 1:(1)2]");
  EXPECT_EQ(planned(kMesh, layout({{x}, {}}), layout({{y}, {}})),
            "collective_permute [0:(1)2, 1:(1)2]");
}

TEST(ReshardPlan, subAxes) {
  Mesh mesh({4});
  AxisRef whole{0, 1, 4}, major{0, 1, 2}, minor{0, 2, 2};
  EXPECT_EQ(planned(mesh, layout({{whole}, {}}), layout({{major}, {}})),
            "all_gather 0 [0:(2)2]");
  EXPECT_EQ(planned(mesh, layout({{whole}, {}}), layout({{major}, {minor}})),
            "all_to_all 0 -> 1 [0:(2)2]");
  EXPECT_EQ(planned(mesh, layout({{}, {}}, {whole}), layout({{minor}, {}})),
            "reduce_scatter 0 [0:(2)2]; all_reduce [0:(1)2]");
}

TEST(ReshardPlan, subAxesThatDoNotCoexist) {
  Mesh mesh({6});
  EXPECT_EQ(planned(mesh, layout({{AxisRef{0, 1, 2}}, {}}),
                    layout({{AxisRef{0, 1, 3}}, {}})),
            "all_gather 0 [0:(1)2]; slice 0 [0:(1)3]");
}

/// Among devices along the atoms that are permuted the summands are alike, also
/// where atoms of source and target exclude each other.
TEST(ReshardPlan, permutesPartialShards) {
  AxisRef half{0, 1, 2}, quarter{0, 1, 4}, last{0, 12, 2}, third{0, 4, 3};
  ReshardProblem problem{Mesh({24}), {}, {}, 4};
  problem.source = problem.target = Layout::replicated({12});
  problem.source.dims[0] = {last, third};
  problem.source.partial = {quarter};
  problem.target.dims[0] = {AxisRef{0, 8, 3}, AxisRef{0, 2, 4}};
  std::string error;
  std::optional<ReshardPlan> plan = planReshard(problem, error);
  ASSERT_TRUE(plan.has_value()) << error;
  EXPECT_TRUE(verifyPlan(problem, *plan, error)) << error << print(*plan);
  EXPECT_EQ(plan->steps.back().axes, AxisList({half}));
}

TEST(ReshardPlan, emptyTensor) {
  Layout source = layout({{x}, {}}), target = layout({{}, {x}});
  source.padded = target.padded = {0, 24};
  EXPECT_EQ(planned(kMesh, source, target), "all_to_all 0 -> 1 [0:(1)2]");
}

TEST(ReshardPlan, errors) {
  Layout whole = layout({{}, {}}), wide = whole, odd = layout({{x}, {}});
  wide.padded[1] = 48;
  odd.padded[0] = 23;
  EXPECT_EQ(planned(kMesh, whole, layout({{}})),
            "error: the source has rank 2, but the target has rank 1");
  EXPECT_EQ(planned(kMesh, whole, wide),
            "error: dim 1 is padded to 24 in the source, but to 48 in the "
            "target, expected the same size");
  EXPECT_EQ(planned(kMesh, odd, odd),
            "error: dim 0 of the source has padded size 23, expected a "
            "multiple of its 2 shards");
  EXPECT_EQ(planned(kMesh, whole, layout({{}, {}}, {x})),
            "error: cannot make a tensor partial along an axis that it is not "
            "partial along in the source");
  Layout sum = layout({{}, {}}, {x}), max = sum;
  max.kind = ReductionKind::Max;
  EXPECT_EQ(planned(kMesh, sum, max),
            "error: cannot turn a partial sum into a partial max");
}

TEST(ReshardPlan, permutesWhenTheBudgetIsSpent) {
  ReshardProblem problem{kMesh, layout({{x}, {}}, {y}), layout({{}, {x, y}}),
                         4};
  std::string error;
  std::optional<ReshardPlan> plan = planReshard(problem, error, {/*states=*/1});
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->optimal);
  EXPECT_TRUE(verifyPlan(problem, *plan, error)) << error;
  EXPECT_EQ(print(*plan),
            "reduce_scatter 1 [1:(1)2]; all_to_all 0 -> 1 [0:(1)2]; "
            "collective_permute [0:(1)2, 1:(1)2]");
  // The gap to what devices have to receive anyway.
  EXPECT_GT(plan->price, leastPrice(problem));
}

TEST(ReshardPlan, plannerRemembers) {
  ReshardPlanner planner;
  ReshardProblem problem{kMesh, layout({{x}, {}}), layout({{}, {x}}), 4};
  std::string error;
  const ReshardPlan *plan = planner.plan(problem, error);
  ASSERT_TRUE(plan);
  EXPECT_EQ(planner.plan(problem, error), plan);
  problem.elementBytes = 8;
  EXPECT_EQ(planner.plan(problem, error)->cost.bytes, 2 * plan->cost.bytes);
  problem.target.padded[0] = 48;
  EXPECT_FALSE(planner.plan(problem, error));
}

TEST(ReshardPlan, verifierRefusesWrongPlans) {
  ReshardProblem problem{kMesh, layout({{x, y}, {}}), layout({{}, {x, y}}), 4};
  std::string error;
  ReshardPlan good = *planReshard(problem, error);
  auto errorOf = [&](const ReshardPlan &plan) {
    return verifyPlan(problem, plan, error) ? "" : error;
  };
  EXPECT_EQ(errorOf(good), "");
  ReshardPlan bad = good;
  bad.steps[0].axes = {y, x};
  EXPECT_EQ(errorOf(bad),
            "step 0: gathered parts of dim 0 do not follow each other");
  bad = good;
  bad.steps[0].after = problem.source;
  EXPECT_EQ(errorOf(bad),
            "step 0: position 0 does not hold what the layout says");
  bad = good;
  ++bad.cost.bytes;
  EXPECT_EQ(errorOf(bad), "the plan costs 432 bytes, but states 433");
  bad.steps.clear();
  EXPECT_EQ(errorOf(bad), "position 0 does not hold what the layout says");

  problem.source = layout({{}, {}}, {x});
  problem.target = layout({{}, {}});
  EXPECT_EQ(errorOf(ReshardPlan()),
            "position 0 does not hold the sum that the target says");
  good = *planReshard(problem, error);
  good.steps.push_back(good.steps[0]);
  EXPECT_EQ(errorOf(good), "step 1: a summand would be counted twice");
}

//===----------------------------------------------------------------------===//
// Against brute force
//===----------------------------------------------------------------------===//

/// A problem over one splitting of the mesh; small sizes, so that divisibility
/// gets in the way at times.
ReshardProblem drawProblem(const Mesh &mesh, const std::vector<AxisRef> &parts,
                           int64_t rank) {
  ReshardProblem problem;
  problem.mesh = mesh;
  problem.source = gen::unpadded(parts, rank, true);
  problem.target = gen::unpadded(parts, rank, false);
  if (gen::below(3) == 0)
    for (AxisRef part : problem.source.partial)
      if (!problem.target.usedAxes().excludes(part))
        problem.target.partial.append(part);
  gen::pad(problem.source, problem.target);
  problem.elementBytes = *rc::gen::element(1, 2, 4);
  return problem;
}

void checkAgainstBruteForce(const ReshardProblem &problem) {
  std::string error;
  std::optional<ReshardPlan> plan = planReshard(problem, error);
  RC_ASSERT(plan.has_value() && plan->optimal);
  bool valid = verifyPlan(problem, *plan, error);
  RC_CLASSIFY(plan->steps.size() > 1, "several steps");
  RC_CLASSIFY(plan->steps.size() > 3, "more than three steps");
  RC_LOG() << print(*plan) << error;
  RC_ASSERT(valid);
  Refinement atoms(problem.source, problem.target, Refinement::Parts::Fine);
  std::vector<AxisRef> parts;
  for (size_t i = 0; i < atoms.size(); ++i)
    parts.push_back(atoms[i]);
  SliceMaps maps(problem.mesh,
                 {problem.source.padded.begin(), problem.source.padded.end()},
                 problem.source.partial, {}, std::move(parts));
  RC_ASSERT(plan->price == maps.cheapest(problem.source, problem.target,
                                         problem.elementBytes));
}

RC_GTEST_PROP(ReshardPlan, costsWhatBruteForceFinds, ()) {
  Mesh mesh = *rc::gen::element(Mesh({2, 2}), Mesh({2, 4}), Mesh({2, 2, 2}),
                                Mesh({4, 3}), Mesh({6}), Mesh({8}));
  ReshardProblem problem =
      drawProblem(mesh, gen::splitting(mesh), 1 + gen::below(3));
  checkAgainstBruteForce(problem);
}

/// Which of twelve idle dims of a size an axis goes by does not matter, so they
/// are no more states than three: no more axes are ever on the way at once.
RC_GTEST_PROP(ReshardPlan, idleDimsOfASizeCostNoStates, ()) {
  Mesh mesh({2, 2, 2});
  ReshardProblem few = drawProblem(mesh, gen::splitting(mesh), 2);
  auto addIdleDims = [&](ReshardProblem &problem, size_t count) {
    for (Layout *layout : {&problem.source, &problem.target}) {
      layout->padded.append(count, 8);
      layout->dims.resize(layout->dims.size() + count);
    }
  };
  ReshardProblem many = few;
  addIdleDims(few, 3);
  addIdleDims(many, 12);
  few.elementBytes *= int64_t{1} << 27;
  std::string error;
  std::optional<ReshardPlan> plan = planReshard(few, error),
                             same = planReshard(many, error,
                                                {kReshardStateBudget / 8});
  RC_ASSERT(plan && same && plan->optimal && same->optimal);
  RC_ASSERT(verifyPlan(many, *same, error));
  RC_ASSERT(plan->cost == same->cost);
}

RC_GTEST_PROP(ReshardPlan, plansOfAnyTwoLayoutsAreValid, ()) {
  Mesh mesh = gen::mesh();
  int64_t rank = 1 + gen::below(3);
  ReshardProblem problem;
  problem.mesh = mesh;
  problem.source = gen::unpadded(gen::splitting(mesh), rank, true);
  problem.target = gen::unpadded(gen::splitting(mesh), rank, false);
  gen::pad(problem.source, problem.target);
  for (ReshardEffort effort :
       {ReshardEffort(),
        ReshardEffort{kReshardStateBudget, /*permutesAnywhere=*/false},
        ReshardEffort{/*states=*/1}}) {
    std::string error;
    std::optional<ReshardPlan> plan = planReshard(problem, error, effort);
    RC_ASSERT(plan.has_value());
    bool valid = verifyPlan(problem, *plan, error);
    RC_LOG() << error << ": " << print(*plan) << " of " << print(problem.source)
             << " to " << print(problem.target);
    RC_ASSERT(valid);
    RC_ASSERT(leastPrice(problem) <= plan->price);
  }
}

/// Where links differ, permutes to any layout are not left out: here one brings
/// the sums onto fast links, at half the price.
TEST(ReshardPlan, permutesAnywhereWhereLinksDiffer) {
  DeviceModel model;
  model.link = {100, 0};
  model.axisLinks["slow"] = {1, 0};
  Mesh mesh({4, 2, 8, 8});
  ReshardProblem problem;
  problem.mesh = mesh;
  problem.costs = MeshCosts(model, {"slow", "x", "y", "z"});
  EXPECT_FALSE(problem.costs.hasEqualLinks());
  const AxisRef slow{0, 1, 4}, x{1, 1, 2}, y{2, 1, 8}, z{3, 1, 8};
  problem.source = Layout::replicated({3584});
  problem.source.dims = {{x, y}};
  problem.source.partial = {slow, z};
  problem.target = Layout::replicated({3584});
  problem.target.dims = {{y}};
  std::string error;
  std::optional<ReshardPlan> plan = planReshard(problem, error),
                             priced = planReshard(
                                 problem, error,
                                 {/*states=*/5000, /*permutesAnywhere=*/false});
  ASSERT_TRUE(plan && priced);
  EXPECT_EQ(print(*priced), print(*plan));
  problem.costs = MeshCosts();
  EXPECT_TRUE(problem.costs.hasEqualLinks());
}

} // namespace
