//===- OpSolverTest.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/OpSolver.h"
#include <gtest/gtest.h>

using namespace shardonnay;

namespace {

// d of size 2, m of size 4.
const Mesh kMesh({2, 4});
const AxisList none, d{AxisRef{0, 1, 2}}, m{AxisRef{1, 1, 4}};

OpTensor tensor(std::vector<int64_t> shape, std::vector<AxisList> dims) {
  OpTensor result;
  result.sharding = TensorSharding::fullyClosed(shape.size());
  for (size_t i = 0; i < dims.size(); ++i)
    result.sharding.dims[i].axes = dims[i];
  result.shape.assign(shape.begin(), shape.end());
  result.elementBytes = 4;
  return result;
}

/// ([i, k], [k, j]) -> ([i, j])
OpProblem matmul(int64_t i, int64_t k, int64_t j, std::vector<AxisList> lhs,
                 std::vector<AxisList> rhs, std::vector<AxisList> result) {
  FactorRuleBuilder builder({2, 2}, {2});
  builder.add(i, {0, -1}, {0});
  builder.add(k, {1, 0}, {-1}, FactorKind::Reduction);
  builder.add(j, {-1, 1}, {1});
  OpProblem problem;
  problem.rule = builder.build();
  problem.tensors = {tensor({i, k}, lhs), tensor({k, j}, rhs),
                     tensor({i, j}, result)};
  problem.contraction = true;
  return problem;
}

FactorStrategy solve(const OpProblem &problem,
                     llvm::StringRef model = "bytes") {
  OpSolver solver(kMesh, MeshCosts(*DeviceModel::find(model), {"d", "m"}));
  return solver.solve(problem);
}

FactorStrategy axes(std::initializer_list<AxisList> lists) { return lists; }

TEST(OpSolver, agreementStays) {
  EXPECT_EQ(solve(matmul(8, 16, 32, {d, none}, {none, m}, {d, m})),
            axes({d, none, m}));
}

TEST(OpSolver, whatALoopReshardsOnceHasThatPartOfThePrice) {
  MeshCosts costs(*DeviceModel::find("bytes"), {"d", "m"});
  auto price = [&](const OpProblem &problem, const FactorStrategy &strategy) {
    return *OpSolver(kMesh, costs).price(problem, strategy);
  };
  // A weight whose rows are sharded is gathered, or the batch is moved.
  OpProblem step = matmul(32, 64, 64, {m, none}, {m, none}, {m, none});
  double gather = 3 * 64 * 64 * 4 / 4;
  EXPECT_NEAR(price(step, axes({m, none, none})), gather, 1);
  EXPECT_NE(solve(step)[0], m);
  step.tensors[1].runs.moved = 0.125;
  EXPECT_NEAR(price(step, axes({m, none, none})), gather / 8, 1);
  EXPECT_EQ(solve(step)[0], m);
  // Its gradient is a sum over the batch, which is scattered.
  OpProblem gradient = matmul(64, 32, 64, {none, m}, {m, none}, {m, none});
  EXPECT_NEAR(price(gradient, axes({none, m, none})), gather, 1);
  gradient.tensors[2].runs.reduced = 0.125;
  EXPECT_NEAR(price(gradient, axes({none, m, none})), gather / 8, 1);
}

/// [i, j] -> [i, j]; a result of i sees `extent` positions, its own the last.
OpProblem window(int64_t i, int64_t j, int64_t extent) {
  FactorRuleBuilder builder({2}, {2});
  FactorWindow sees;
  sees.factor = builder.add(i, {0}, {0}, FactorKind::Windowed);
  sees.size = sees.count = i;
  sees.extent = extent;
  sees.low = extent - 1;
  builder.addWindow(sees);
  builder.add(j, {1}, {1});
  OpProblem problem;
  problem.rule = builder.build();
  problem.tensors = {tensor({i, j}, {m, none}), tensor({i, j}, {m, none})};
  return problem;
}

TEST(OpSolver, aSmallHaloIsFetched) {
  EXPECT_EQ(solve(window(64, 64, 3)), axes({m, none}));
  EXPECT_EQ(solve(window(64, 64, 3), "cpu"), axes({m, none}));
}

TEST(OpSolver, whereWindowsSeeAllAnotherDimIsSharded) {
  // 3 * 16 rows of 256 bytes, against 2 times 3/4 of 16 such rows.
  EXPECT_EQ(solve(window(64, 64, 64)), axes({none, m}));
}

TEST(OpSolver, aWindowHasThePriceOfItsPermute) {
  OpProblem problem = window(64, 64, 3);
  MeshCosts costs(*DeviceModel::find("bytes"), {"d", "m"});
  // Two rows of 64 floats.
  EXPECT_EQ(OpSolver(kMesh, costs).price(problem, axes({m, none})),
            costs.price({2 * 64 * 4, 2}, {1}));
}

/// [i, j] -> [i], twice: j, sharded by m, is reduced, and results are
/// exchanged.
OpProblem exchange(int64_t i, int64_t j) {
  FactorRuleBuilder builder({2}, {1, 1});
  builder.add(i, {0}, {0, 0});
  int32_t reduced = builder.add(j, {1}, {-1, -1}, FactorKind::Windowed);
  OpProblem problem;
  problem.rule = builder.build();
  problem.rule.factors[reduced].exchanged = true;
  problem.tensors = {tensor({i, j}, {none, m}), tensor({i}, {}),
                     tensor({i}, {})};
  return problem;
}

TEST(OpSolver, anExchangeHasThePriceOfItsGathers) {
  MeshCosts costs(*DeviceModel::find("bytes"), {"d", "m"});
  Cost gather = collectiveCost(CollectiveKind::AllGather, 4, 8 * 4);
  EXPECT_EQ(OpSolver(kMesh, costs).price(exchange(8, 512), axes({none, m})),
            costs.price({2 * gather.bytes, 2 * gather.steps}, {1}));
}

TEST(OpSolver, whatIsSmallIsGatheredNotExchanged) {
  // One gather of little, against two of less.
  EXPECT_EQ(solve(exchange(2, 64), "cpu"), axes({none, none}));
  EXPECT_EQ(solve(exchange(2, 1 << 20), "cpu"), axes({none, m}));
  EXPECT_EQ(solve(exchange(2, 64)), axes({none, m}));
}

TEST(OpSolver, updatesAreNotOrderedAtEachPlace) {
  // [u] into [i], u needed whole: what a sort of the larger one costs.
  auto ownPrice = [](int64_t i, int64_t u) {
    FactorRuleBuilder builder({1, 1}, {1});
    builder.add(i, {0, -1}, {0});
    builder.add(u, {-1, 0}, {-1}, FactorKind::NeedReplication);
    OpProblem problem;
    problem.rule = builder.build();
    problem.tensors = {tensor({i}, {}), tensor({u}, {}), tensor({i}, {})};
    OpSolver solver(kMesh, MeshCosts(*DeviceModel::find("cpu"), {"d", "m"}));
    return solver.ownPrice(problem, axes({none, none}));
  };
  EXPECT_LT(ownPrice(1 << 20, 1 << 20), 3 * ownPrice(1 << 20, 1 << 10));
}

TEST(OpSolver, largeElementwiseOpsAreFused) {
  auto ownPrice = [](int64_t i, bool elementwise) {
    FactorRuleBuilder builder({1, 1}, {1});
    builder.add(i, {0, 0}, {0});
    OpProblem problem;
    problem.rule = builder.build();
    problem.tensors = {tensor({i}, {}), tensor({i}, {}), tensor({i}, {})};
    problem.elementwise = elementwise;
    OpSolver solver(kMesh, MeshCosts(*DeviceModel::find("cpu"), {"d", "m"}));
    return solver.ownPrice(problem, axes({none}));
  };
  EXPECT_EQ(ownPrice(1 << 10, true), ownPrice(1 << 10, false));
  EXPECT_LT(ownPrice(1 << 26, true), 0.76 * ownPrice(1 << 26, false));
  EXPECT_LT(ownPrice(1 << 18, true), ownPrice(1 << 19, true));
}

TEST(OpSolver, theSmallerTensorMoves) {
  // FSDP: the weight is gathered while it is smaller than what else would move.
  EXPECT_EQ(solve(matmul(4096, 64, 64, {d, none}, {d, none}, {d, none})),
            axes({d, none, none}));
  EXPECT_EQ(solve(matmul(8, 512, 512, {d, none}, {d, none}, {d, none})),
            axes({none, d, none}));
}

TEST(OpSolver, idleAxesAreBroughtInWhereComputeHasAPrice) {
  OpProblem head = matmul(64, 1024, 64, {d, none}, {none, none}, {d, none});
  EXPECT_EQ(solve(head), axes({d, none, none}));
  FactorStrategy sharded = solve(head, "cpu");
  EXPECT_TRUE(llvm::any_of(sharded, [](const AxisList &list) {
    return list.excludes(AxisRef{1, 1, 4});
  }));
}

TEST(OpSolver, computeIsNotRepeatedToSaveBytes) {
  // The result is wanted whole: gathering the operands may be fewer bytes, but
  // each device would then do all of the work.
  OpProblem outer = matmul(512, 1, 512, {m, none}, {none, none}, {none, none});
  EXPECT_EQ(solve(outer), axes({m, none, none}));
}

/// [i, j] -> [i / 4, j]: the second quarter of the rows, all in one shard of m,
/// is to be sharded by m.
OpProblem quarter(int64_t i, int64_t j) {
  OpProblem problem = window(i, j, 1);
  FactorWindow &sees = problem.rule.windows.front();
  sees.count = i / 4;
  sees.low = -i / 4;
  problem.rule.factors[sees.factor].size = i / 4;
  problem.tensors[1] = tensor({i / 4, j}, {m, none});
  return problem;
}

TEST(OpSolver, whatMovesElementsIsRepeatedWhereThatIsCheaper) {
  // One gather of little, against three rounds of permutes.
  EXPECT_EQ(solve(quarter(16, 64), "cpu"), axes({none, none}));
  MeshCosts costs(*DeviceModel::find("cpu"), {"d", "m"});
  OpSolver kept(kMesh, costs, /*gathersByPrice=*/false);
  EXPECT_EQ(kept.solve(quarter(16, 64)), axes({m, none}));
}

TEST(OpSolver, windowsOfSeveralElementsAreNotRepeated) {
  OpProblem pooling = quarter(16, 64);
  pooling.rule.windows.front().extent = 2;
  EXPECT_NE(solve(pooling, "cpu"), axes({none, none}));
}

TEST(OpSolver, theAlternativeIsTheNextBest) {
  OpProblem problem = matmul(4096, 64, 64, {d, none}, {d, none}, {d, none});
  OpSolver solver(kMesh, MeshCosts(*DeviceModel::find("bytes"), {"d", "m"}));
  FactorStrategy taken = solver.solve(problem);
  std::optional<OpSolver::OtherStrategy> other =
      solver.alternative(problem, taken);
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->isBest);
  EXPECT_NE(other->strategy, taken);
  EXPECT_EQ(other->price, *solver.price(problem, other->strategy));
  EXPECT_GE(other->price, *solver.price(problem, taken));
}

TEST(OpSolver, partsOfAnAxisAreDistributedToo) {
  // The weight has half of m along j: it costs least to shard j by that half
  // and i by the other, which the activations have.
  AxisList major{AxisRef{1, 1, 2}}, minor{AxisRef{1, 2, 2}};
  OpProblem problem =
      matmul(64, 64, 64, {minor, none}, {none, major}, {m, none});
  problem.contraction = false;
  OpSolver solver(kMesh, MeshCosts(*DeviceModel::find("bytes"), {"d", "m"}));
  double price = *solver.price(problem, solver.solve(problem));
  for (const FactorStrategy &sharded :
       {axes({m, none, none}), axes({minor, none, major}),
        axes({minor, none, none}), axes({none, none, m})})
    EXPECT_LE(price, *solver.price(problem, sharded));
  EXPECT_EQ(price, *solver.price(problem, axes({minor, none, major})));
}

TEST(OpSolver, partsThatDoNotNestAreNotBroughtTogether) {
  // Of an axis of 6 the major and the minor 2: ([k, b, m], [b, k]) -> [b, m].
  Mesh mesh({2, 6});
  AxisList major{{0, 1, 2}, {1, 1, 2}}, minor{{0, 1, 2}, {1, 3, 2}};
  FactorRuleBuilder builder({3, 2}, {2});
  builder.add(2, {0, 1}, {-1}, FactorKind::Reduction);
  builder.add(16, {1, 0}, {0});
  builder.add(2, {2, -1}, {1});
  OpProblem problem;
  problem.rule = builder.build();
  problem.tensors = {tensor({2, 16, 2}, {none, major, none}),
                     tensor({16, 2}, {minor, none}),
                     tensor({16, 2}, {d, none})};
  problem.contraction = true;
  OpSolver solver(mesh, MeshCosts(*DeviceModel::find("cpu"), {"d", "m"}));
  EXPECT_TRUE(isLawful(solver.solve(problem), problem.rule));
}

TEST(OpSolver, whereAxesCrossTheAlternativeIsOneNearby) {
  // Of an axis of 6 the first half and the first third do not coexist.
  Mesh mesh({2, 6});
  AxisList half{AxisRef{1, 1, 2}}, third{AxisRef{1, 1, 3}};
  OpProblem problem =
      matmul(36, 36, 36, {third, none}, {none, half}, {third, none});
  OpSolver solver(mesh, MeshCosts(*DeviceModel::find("bytes"), {"d", "m"}));
  FactorStrategy taken = axes({third, none, none});
  std::optional<OpSolver::OtherStrategy> other =
      solver.alternative(problem, taken);
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->isBest);
  // Nothing but what shards the weight moves from m to k, or is gathered.
  EXPECT_EQ(other->price, *solver.price(problem, other->strategy));
  for (const FactorStrategy &sharded :
       {axes({none, none, none}), axes({none, third, none}),
        axes({none, none, third}), axes({none, none, half})})
    EXPECT_LE(other->price, *solver.price(problem, sharded));
}

TEST(OpSolver, whatNeedsAllHasNoAlternative) {
  OpProblem problem;
  FactorRuleBuilder builder({1}, {1});
  builder.add(64, {0}, {0}, FactorKind::NeedReplication);
  problem.rule = builder.build();
  for (int i = 0; i < 2; ++i)
    problem.tensors.push_back({TensorSharding::fullyClosed(1), {64}, 4});
  problem.tensors[0].sharding.dims[0].axes = d;
  OpSolver solver(kMesh, MeshCosts(*DeviceModel::find("bytes"), {"d", "m"}));
  EXPECT_FALSE(solver.alternative(problem, axes({none})));
}

} // namespace
