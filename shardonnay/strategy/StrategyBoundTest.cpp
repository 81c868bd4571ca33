//===- StrategyBoundTest.cpp - a bound without orders ---------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/StrategyBound.h"
#include "shardonnay/strategy/RequiredLayouts.h"
#include "shardonnay/strategy/StrategySearch.h"
#include <gtest/gtest.h>
#include <random>

using namespace shardonnay;

namespace {

/// Random problems on a mesh of 2 x 3 x 4 and the half axes of the last.
class Problems {
public:
  explicit Problems(unsigned seed) : random(seed) {}

  bool chance(int percent) { return draw(100) < percent; }
  int64_t draw(int64_t most) {
    return std::uniform_int_distribution<int64_t>(0, most - 1)(random);
  }

  const Mesh &getMesh() const { return mesh; }
  const std::vector<AxisRef> &getAxes() const { return axes; }

  /// ([i, k], [k, j]) -> ([i, j]) or ([i, j]) -> ([i, j, ...]), of sizes that
  /// the axes divide or do not.
  OpProblem next() {
    constexpr int64_t kSizes[] = {24, 48, 10, 7, 1, 0};
    auto size = [&] { return kSizes[draw(chance(80) ? 2 : 6)]; };
    int64_t i = size(), j = size(), k = size();
    OpProblem problem;
    problem.contraction = chance(60);
    if (problem.contraction) {
      FactorRuleBuilder builder({2, 2}, {2});
      builder.add(i, {0, -1}, {0}, FactorKind::PassThrough);
      builder.add(k, {1, 0}, {-1}, FactorKind::Reduction);
      builder.add(j, {-1, 1}, {1}, FactorKind::PassThrough);
      problem.rule = builder.build();
      addTensors(problem, {{i, k}, {k, j}, {i, j}});
    } else {
      FactorRuleBuilder builder({2}, {2});
      builder.add(i, {0}, {0}, FactorKind::PassThrough);
      builder.add(j, {1}, {1}, FactorKind::PassThrough);
      problem.rule = builder.build();
      problem.elementwise = chance(50);
      addTensors(problem, {{i, j}, {i, j}});
    }
    return problem;
  }

  /// Some axes at the factors, in any order.
  FactorStrategy place(const FactorRule &rule) {
    FactorStrategy strategy(rule.factors.size());
    std::vector<size_t> order(axes.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (size_t axis : order) {
      int64_t factor = draw(static_cast<int64_t>(strategy.size()) + 1) - 1;
      if (factor < 0)
        continue;
      strategy[factor].append(axes[axis]);
    }
    return strategy;
  }

private:
  void addTensors(OpProblem &problem,
                  std::initializer_list<std::array<int64_t, 2>> shapes) {
    for (const std::array<int64_t, 2> &shape : shapes) {
      OpTensor &tensor = problem.tensors.emplace_back();
      tensor.shape.assign(shape.begin(), shape.end());
      tensor.elementBytes = 1 << draw(3);
      tensor.free = chance(10);
      if (chance(30))
        tensor.runs = {chance(50) ? 1 : 0.125, 0.125};
      tensor.sharding = TensorSharding::fullyClosed(2);
      std::vector<AxisRef> order = axes;
      std::shuffle(order.begin(), order.end(), random);
      for (AxisRef axis : order) {
        int64_t dim = draw(4);
        if (dim < 2)
          tensor.sharding.dims[dim].axes.append(axis);
        else if (dim == 2 && chance(30))
          tensor.sharding.unreduced.append(axis);
      }
      tensor.sharding.unreduced = tensor.sharding.unreduced.sorted();
    }
  }

  std::mt19937 random;
  Mesh mesh{{2, 3, 4}};
  std::vector<AxisRef> axes = {{0, 1, 2}, {1, 1, 3}, {2, 1, 2}, {2, 2, 2}};
};

TEST(StrategyBound, isNeverAboveThatOfAnyOrder) {
  int informative = 0;
  for (llvm::StringRef model : {"cpu", "bytes"}) {
    MeshCosts costs(*DeviceModel::find(model), {"x", "y", "z"});
    Problems problems(7);
    for (int round = 0; round < 2000; ++round) {
      OpProblem problem = problems.next();
      OpSolver solver(problems.getMesh(), costs);
      RequiredLayouts layouts(problem, costs);
      StrategyBound bound(problem, problems.getAxes(), costs);
      for (int strategies = 0; strategies < 20; ++strategies) {
        FactorStrategy strategy = problems.place(problem.rule);
        double least =
            roundedDown(bound.least(strategy, localFlops(problem, strategy)));
        double close = solver.leastPrice(problem, strategy, HUGE_VAL, layouts);
        ASSERT_LE(least, close * (1 + 1e-9)) << "round " << round;
        informative += least > 0.5 * close && close > 0;
      }
    }
  }
  EXPECT_GT(informative, 20000);
}

/// A matrix of 24 x 48 floats whose rows are sharded in four comes out with its
/// columns sharded so.
TEST(StrategyBound, countsWhatADeviceLacks) {
  MeshCosts costs(*DeviceModel::find("bytes"), {"x"});
  FactorRuleBuilder builder({2}, {2});
  builder.add(24, {0}, {0}, FactorKind::PassThrough);
  builder.add(48, {1}, {1}, FactorKind::PassThrough);
  OpProblem problem;
  problem.rule = builder.build();
  AxisRef x{0, 1, 4};
  for (int dim : {0, 1}) {
    OpTensor &tensor = problem.tensors.emplace_back();
    tensor.shape = {24, 48};
    tensor.elementBytes = 4;
    tensor.sharding = TensorSharding::fullyClosed(2);
    tensor.sharding.dims[dim].axes.append(x);
  }
  const AxisRef axes[] = {x};
  StrategyBound bound(problem, axes, costs);
  // Sharded by rows or columns, a device needs a quarter of each, of which it
  // has a quarter.
  AxisList sharded({x}), whole;
  double rows = bound.least({sharded, whole}, 0),
         columns = bound.least({whole, sharded}, 0);
  EXPECT_EQ(rows, columns);
  EXPECT_GE(rows, 4.0 * (24 * 12 - 6 * 12));
  // Whole in the op, a device needs all, of which it has a quarter.
  EXPECT_GE(bound.least({whole, whole}, 0), 4.0 * (24 * 48 - 6 * 48));
}

} // namespace
