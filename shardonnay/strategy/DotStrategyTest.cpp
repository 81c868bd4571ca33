//===- DotStrategyTest.cpp - strategies of a dot by brute force -----------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// dot_general with operands and a result sharded in any way, on two and three
// axes: what is chosen costs what the best of all ways to give axes to factors
// does, with reshards priced by SliceMapsTesting.h. On four axes, where the
// choice is climbed to and no longer enumerated, it costs what the best does by
// the solver's own prices, in nearly all cases. Of the planner the tests take
// what no price says: the voted strategy, which bounds the work, and which
// may only be extended where it takes the operands as they are.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/SliceMapsTesting.h"
#include "shardonnay/strategy/OpSolver.h"
#include <gtest/gtest.h>
#include <random>

using namespace shardonnay;

namespace {

/// Every way to deal the axes of `mesh` out to `places` lists, in any order, or
/// to none.
void deal(const Mesh &mesh, size_t places,
          llvm::function_ref<void(const std::vector<AxisList> &)> body) {
  std::vector<AxisList> lists(places);
  // An order of all axes gives every list the order of its own.
  std::set<std::vector<std::vector<AxisRef>>> seen;
  std::function<void(uint32_t)> next = [&](uint32_t used) {
    std::vector<std::vector<AxisRef>> key;
    for (const AxisList &list : lists)
      key.push_back(list.refs().vec());
    if (seen.insert(key).second)
      body(lists);
    for (int64_t axis = 0; axis < mesh.numAxes(); ++axis)
      for (size_t place = 0; place < places && !(used & (1u << axis));
           ++place) {
        AxisList before = lists[place];
        lists[place].append(mesh.fullAxis(axis));
        next(used | (1u << axis));
        lists[place] = before;
      }
  };
  next(0);
}

/// ([b..., i, k], [b..., k, j]) -> ([b..., i, j])
class DotStrategy : public testing::TestWithParam<llvm::StringRef> {
protected:
  enum Tensor { Lhs, Rhs, Out };

  void setUp(const Mesh &newMesh, bool batched) {
    mesh = newMesh;
    llvm::SmallVector<llvm::StringRef, 4> names = {"x", "y", "z", "w"};
    names.truncate(mesh.numAxes());
    costs = MeshCosts(*DeviceModel::find(GetParam()), names);
    solver = std::make_unique<OpSolver>(mesh, costs);
    rank = batched ? 3 : 2;
    shardings.clear();
    deal(mesh, rank, [&](const std::vector<AxisList> &lists) {
      shardings.push_back(lists);
    });
  }

  OpProblem problemOf(const std::vector<int64_t> &sizes,
                      const std::array<size_t, 3> &layouts) const;
  using Pricing = llvm::function_ref<double(const std::vector<AxisList> &)>;
  /// The least price of the strategies that may be chosen.
  double bruteForce(const OpProblem &problem, Pricing price);
  /// The price of the op and of its reshards, by SliceMapsTesting.h.
  double mapsPrice(const OpProblem &problem,
                   const std::vector<AxisList> &strategy);
  /// The price of resharding one tensor, which is sharded otherwise outside the
  /// op.
  double reshardPrice(const OpTensor &tensor, Tensor which,
                      const std::vector<AxisList> &inside,
                      const AxisList &partial);
  /// Says so if they differ.
  void check(const std::vector<int64_t> &sizes,
             const std::array<size_t, 3> &layouts);

  /// The factors of a tensor's dims: b, i, k, j, or i, k, j.
  std::vector<int64_t> factorsOf(Tensor tensor) const {
    int64_t i = rank - 2, k = i + 1, j = i + 2;
    std::vector<int64_t> factors;
    if (rank == 3)
      factors.push_back(0);
    factors.push_back(tensor == Rhs ? k : i);
    factors.push_back(tensor == Lhs ? k : j);
    return factors;
  }

  Mesh mesh{{2}};
  MeshCosts costs;
  std::unique_ptr<OpSolver> solver;
  size_t rank = 2;
  std::vector<std::vector<AxisList>> shardings;
  std::map<std::pair<std::vector<int64_t>, std::vector<AxisRef>>,
           std::unique_ptr<SliceMaps>>
      maps;
};

OpProblem DotStrategy::problemOf(const std::vector<int64_t> &sizes,
                                 const std::array<size_t, 3> &layouts) const {
  auto count = static_cast<int64_t>(rank);
  FactorRuleBuilder builder({count, count}, {count});
  int64_t contracted = count - 1;
  std::array<std::vector<int64_t>, 3> factors = {factorsOf(Lhs), factorsOf(Rhs),
                                                 factorsOf(Out)};
  for (auto [factor, size] : llvm::enumerate(sizes)) {
    std::array<int64_t, 3> dims;
    for (auto [dim, list] : llvm::zip_equal(dims, factors)) {
      auto found = llvm::find(list, static_cast<int64_t>(factor));
      dim = found == list.end() ? -1 : found - list.begin();
    }
    builder.add(size, {dims[Lhs], dims[Rhs]}, {dims[Out]},
                static_cast<int64_t>(factor) == contracted
                    ? FactorKind::Reduction
                    : FactorKind::PassThrough);
  }
  OpProblem problem;
  problem.rule = builder.build();
  problem.contraction = true;
  for (auto [list, layout] : llvm::zip_equal(factors, layouts)) {
    OpTensor &tensor = problem.tensors.emplace_back();
    tensor.elementBytes = 4;
    tensor.sharding = TensorSharding::fullyClosed(count);
    for (auto [dim, factor] : llvm::enumerate(list)) {
      tensor.shape.push_back(sizes[factor]);
      tensor.sharding.dims[dim].axes = shardings[layout][dim];
    }
  }
  return problem;
}

double DotStrategy::reshardPrice(const OpTensor &tensor, Tensor which,
                                 const std::vector<AxisList> &inside,
                                 const AxisList &partial) {
  Layout outside = Layout::replicated(tensor.shape), within = outside;
  for (size_t dim = 0; dim < rank; ++dim) {
    outside.dims[dim] = tensor.sharding.dims[dim].axes;
    within.dims[dim] = inside[dim];
  }
  within.partial = partial;
  std::unique_ptr<SliceMaps> &known =
      maps[{std::vector<int64_t>(tensor.shape.begin(), tensor.shape.end()),
            partial.refs().vec()}];
  if (!known)
    known = std::make_unique<SliceMaps>(
        mesh, std::vector<int64_t>(tensor.shape.begin(), tensor.shape.end()),
        partial, costs);
  return which == Out ? known->cheapest(within, outside, tensor.elementBytes)
                      : known->cheapest(outside, within, tensor.elementBytes);
}

static double pointsOf(const OpProblem &problem,
                       llvm::ArrayRef<AxisList> strategy) {
  double points = 1;
  for (auto [factor, axes] : llvm::zip_equal(problem.rule.factors, strategy))
    points *= static_cast<double>(factor.size) / axes.numShards();
  return points;
}

double DotStrategy::bruteForce(const OpProblem &problem, Pricing price) {
  FactorStrategy voted = voteStrategy(problem);
  bool operandsStay = true;
  for (Tensor tensor : {Lhs, Rhs})
    for (auto [dim, factor] : llvm::enumerate(factorsOf(tensor)))
      operandsStay &=
          problem.tensors[tensor].sharding.dims[dim].axes == voted[factor];
  double best = HUGE_VAL;
  double most = kRepeatedWork * pointsOf(problem, voted);
  deal(mesh, rank + 1, [&](const std::vector<AxisList> &strategy) {
    if (pointsOf(problem, strategy) > most)
      return;
    for (auto [factor, axes] : llvm::enumerate(strategy))
      if (problem.rule.factors[factor].size % axes.numShards() != 0 ||
          (operandsStay && !voted[factor].isPrefixOf(axes)))
        return;
    best = std::min(best, price(strategy));
  });
  return best;
}

double DotStrategy::mapsPrice(const OpProblem &problem,
                              const std::vector<AxisList> &strategy) {
  double price = 0, touched = 0;
  for (Tensor tensor : {Lhs, Rhs, Out}) {
    std::vector<AxisList> inside;
    double bytes = 4;
    for (int64_t factor : factorsOf(tensor)) {
      inside.push_back(strategy[factor]);
      bytes *= static_cast<double>(problem.rule.factors[factor].size) /
               strategy[factor].numShards();
    }
    touched += bytes;
    price +=
        reshardPrice(problem.tensors[tensor], tensor, inside,
                     tensor == Out ? strategy[rank - 1].sorted() : AxisList());
  }
  return price + costs.computePrice(2 * pointsOf(problem, strategy), touched);
}

void DotStrategy::check(const std::vector<int64_t> &sizes,
                        const std::array<size_t, 3> &layouts) {
  OpProblem problem = problemOf(sizes, layouts);
  const FactorStrategy &selected = solver->solve(problem);
  std::optional<double> price = solver->price(problem, selected);
  ASSERT_TRUE(price);
  double expected = bruteForce(problem, [&](const auto &strategy) {
    return mapsPrice(problem, strategy);
  });
  if (std::abs(*price - expected) <= 1e-9 * expected)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const OpTensor &tensor : problem.tensors)
    os << Layout::get(tensor.sharding, tensor.shape) << " ";
  for (const AxisList &axes : selected)
    os << axes;
  ADD_FAILURE() << text << " costs " << *price << ", the best " << expected;
}

TEST_P(DotStrategy, twoAxes) {
  setUp(Mesh({2, 4}), /*batched=*/false);
  for (size_t lhs = 0; lhs < shardings.size(); ++lhs)
    for (size_t rhs = 0; rhs < shardings.size(); ++rhs)
      for (size_t out = 0; out < shardings.size(); ++out)
        check((lhs + rhs + out) % 2 ? std::vector<int64_t>{8, 64, 256}
                                    : std::vector<int64_t>{128, 16, 8},
              {lhs, rhs, out});
}

TEST_P(DotStrategy, twoAxesAndSizesThatTheyMayNotDivide) {
  std::mt19937 random(5);
  setUp(Mesh({2, 4}), /*batched=*/false);
  for (size_t i = 0; i < numTestCases(); ++i) {
    std::vector<int64_t> sizes(3);
    for (int64_t &size : sizes)
      size = std::array<int64_t, 5>{2, 8, 12, 64, 256}[random() % 5];
    std::array<size_t, 3> layouts;
    for (size_t &layout : layouts)
      layout = random() % shardings.size();
    OpProblem problem = problemOf(sizes, layouts);
    if (llvm::all_of(problem.tensors, [](const OpTensor &tensor) {
          return llvm::all_of_zip(tensor.shape, tensor.sharding.dims,
                                  [](int64_t size, const DimSharding &dim) {
                                    return size % dim.axes.numShards() == 0;
                                  });
        }))
      check(sizes, layouts);
  }
}

TEST_P(DotStrategy, threeAxes) {
  std::mt19937 random(7);
  for (bool batched : {false, true}) {
    setUp(Mesh({2, 2, 2}), batched);
    for (size_t i = 0; i < numTestCases() / 4; ++i) {
      // b, i, k, j; few sizes, so that brute force meets what it has seen.
      std::vector<int64_t> sizes = std::array<std::vector<int64_t>, 3>{
          {{8, 16, 64, 256}, {8, 256, 8, 16}, {64, 8, 256, 64}}}[i % 3];
      sizes.erase(sizes.begin(), sizes.end() - (rank + 1));
      std::array<size_t, 3> layouts;
      for (size_t &layout : layouts)
        layout = random() % shardings.size();
      check(sizes, layouts);
    }
  }
}

TEST_P(DotStrategy, fourAxesAreClimbed) {
  std::mt19937 random(11);
  setUp(Mesh({2, 4, 2, 2}), /*batched=*/true);
  size_t numDearer = 0, numCases = numTestCases() / 4;
  double most = 1;
  for (size_t i = 0; i < numCases; ++i) {
    OpProblem problem = problemOf(
        std::array<std::vector<int64_t>, 2>{
            {{32, 64, 256, 128}, {64, 256, 32, 512}}}[i % 2],
        {random() % shardings.size(), random() % shardings.size(),
         random() % shardings.size()});
    double price = *solver->price(problem, solver->solve(problem));
    double least = bruteForce(problem, [&](const auto &strategy) {
      FactorStrategy found(strategy.begin(), strategy.end());
      return solver->price(problem, found, price).value_or(HUGE_VAL);
    });
    if (least < price * (1 - 1e-9)) {
      ++numDearer;
      most = std::max(most, price / least);
    }
  }
  EXPECT_LE(numDearer, numCases / 8) << "at most " << most << " times";
  EXPECT_LE(most, 1.2);
}

INSTANTIATE_TEST_SUITE_P(Models, DotStrategy, testing::Values("bytes", "cpu"));

} // namespace
