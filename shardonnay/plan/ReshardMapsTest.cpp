//===- ReshardMapsTest.cpp - plans against brute force --------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pairs of layouts of tensors of rank 1 to 3: sub-axes, any order, parts of
// sums, dims that do not divide. All pairs of a mesh and rank up to 20,000 with
// --long, up to 1,000 else; a sample of as many where there are more.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/Generators.h"
#include "shardonnay/plan/ReshardPlan.h"
#include "shardonnay/plan/SliceMapsTesting.h"
#include <gtest/gtest.h>
#include <random>

using namespace shardonnay;

namespace {

/// Every placement of the atoms of a mesh in dims, in any order, among the
/// partial axes, or nowhere.
class AllLayouts {
public:
  AllLayouts(llvm::ArrayRef<AxisRef> atoms, int64_t rank)
      : atoms(atoms), rank(rank) {
    std::vector<AxisList> dims(rank);
    place(dims, AxisList(), 0);
  }
  std::vector<TensorSharding> found;

private:
  void place(const std::vector<AxisList> &dims, const AxisList &partial,
             uint32_t seen) {
    TensorSharding sharding = TensorSharding::fullyClosed(rank);
    for (auto [to, axes] : llvm::zip_equal(sharding.dims, dims))
      to.axes = axes;
    sharding.unreduced = partial.sorted();
    if (!llvm::is_contained(found, sharding))
      found.push_back(sharding);
    for (auto [i, atom] : llvm::enumerate(atoms)) {
      if (seen & (1u << i))
        continue;
      for (size_t dim = 0; dim <= dims.size(); ++dim) {
        std::vector<AxisList> next = dims;
        AxisList parts = partial;
        (dim < dims.size() ? next[dim] : parts).append(atom);
        place(next, parts, seen | (1u << i));
      }
    }
  }

  llvm::ArrayRef<AxisRef> atoms;
  int64_t rank;
};

class ReshardMaps
    : public testing::TestWithParam<std::tuple<std::vector<int64_t>, int>> {
protected:
  ReshardMaps()
      : mesh(std::get<0>(GetParam())), rank(std::get<1>(GetParam())) {}

  /// What plans and brute force say of a pair, if they disagree.
  std::string check(const TensorSharding &from, const TensorSharding &to,
                    llvm::ArrayRef<int64_t> shape);

  Mesh mesh;
  int64_t rank;
  std::map<std::pair<std::vector<int64_t>, std::vector<AxisRef>>,
           std::unique_ptr<SliceMaps>>
      maps;
};

std::string ReshardMaps::check(const TensorSharding &from,
                               const TensorSharding &to,
                               llvm::ArrayRef<int64_t> shape) {
  ReshardProblem problem{mesh, Layout::get(from, shape), Layout::get(to, shape),
                         4};
  alignPadding(problem.source, problem.target);
  std::string text, error;
  llvm::raw_string_ostream os(text);
  os << problem.source << " to " << problem.target << ": ";
  std::optional<ReshardPlan> plan = planReshard(problem, error);
  if (!plan || !plan->optimal || !verifyPlan(problem, *plan, error)) {
    os << error << "; is no sound, optimal plan";
    return text;
  }
  std::vector<int64_t> padded(problem.source.padded.begin(),
                              problem.source.padded.end());
  llvm::ArrayRef<AxisRef> parts = problem.source.partial.refs();
  std::unique_ptr<SliceMaps> &known = maps[{padded, parts.vec()}];
  if (!known)
    known = std::make_unique<SliceMaps>(mesh, padded, problem.source.partial);
  double expected =
      known->cheapest(problem.source, problem.target, problem.elementBytes);
  if (plan->price == expected)
    return "";
  os << "costs " << plan->price << ", brute force finds " << expected << " ("
     << *plan << ")";
  return text;
}

TEST_P(ReshardMaps, plansCostWhatBruteForceFinds) {
  SliceMaps whole(mesh, std::vector<int64_t>(rank, 24), AxisList());
  std::vector<TensorSharding> layouts =
      AllLayouts(whole.getAtoms(), rank).found;
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t from = 0; from < layouts.size(); ++from)
    for (size_t to = 0; to < layouts.size(); ++to)
      if (llvm::all_of(layouts[to].unreduced, [&](AxisRef axis) {
            return layouts[from].unreduced.covers(axis);
          }))
        pairs.push_back({from, to});
  std::mt19937 random(mesh.numDevices() + 100 * rank);
  for (size_t i = pairs.size(); i > 1; --i)
    std::swap(pairs[i - 1], pairs[random() % i]);
  pairs.resize(std::min(pairs.size(), 10 * numTestCases()));
  const std::array<int64_t, 3> even = {24, 24, 24}, uneven = {10, 7, 13};
  int failures = 0;
  for (auto [i, pair] : llvm::enumerate(pairs)) {
    const std::array<int64_t, 3> &shape = i % 2 ? uneven : even;
    std::string wrong = check(layouts[pair.first], layouts[pair.second],
                              llvm::ArrayRef<int64_t>(shape).take_front(rank));
    if (!wrong.empty() && ++failures <= 5)
      ADD_FAILURE() << wrong;
  }
  EXPECT_EQ(failures, 0) << "of " << pairs.size();
}

INSTANTIATE_TEST_SUITE_P(All, ReshardMaps, meshesAndRanks());

} // namespace
