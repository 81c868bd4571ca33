//===- MeshTest.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/Generators.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>

using namespace shardonnay;

namespace {

/// The coordinates of a position along the full axes, counted up like an
/// odometer.
std::vector<std::vector<int64_t>> allCoordinates(const Mesh &mesh) {
  std::vector<std::vector<int64_t>> result = {{}};
  for (int64_t size : mesh.axisSizes()) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t> &prefix : result)
      for (int64_t i = 0; i < size; ++i) {
        longer.push_back(prefix);
        longer.back().push_back(i);
      }
    result = longer;
  }
  return result;
}

RC_GTEST_PROP(Mesh, coordinateIsTheMiddleDigit, ()) {
  Mesh mesh = gen::mesh();
  AxisRef axis = gen::axisRef(mesh);
  int64_t post = mesh.axisSize(axis.axis) / (axis.pre * axis.size);
  std::vector<std::vector<int64_t>> all = allCoordinates(mesh);
  RC_ASSERT(static_cast<int64_t>(all.size()) == mesh.numDevices());
  for (size_t p = 0; p < all.size(); ++p) {
    int64_t digit = 0;
    // Count through pre x size x post by hand.
    for (int64_t c = 0; c < all[p][axis.axis]; ++c)
      if ((c + 1) % post == 0)
        digit = (digit + 1) % axis.size;
    RC_ASSERT(mesh.coordinate(axis, p) == digit);
  }
}

RC_GTEST_PROP(Mesh, groupsDifferOnlyAlongTheirAxes, ()) {
  Mesh mesh = gen::mesh();
  std::vector<AxisRef> all = gen::splitting(mesh);
  AxisList axes(gen::someOf(all));
  AxisList rest = AxisList(all).subtract(axes);
  std::set<int64_t> seen;
  int64_t lastFirst = -1;
  for (const auto &group : mesh.groups(axes)) {
    RC_ASSERT(static_cast<int64_t>(group.size()) == axes.numShards());
    RC_ASSERT(group.front() > lastFirst);
    lastFirst = group.front();
    for (size_t i = 0; i < group.size(); ++i) {
      RC_ASSERT(mesh.index(axes, group[i]) == static_cast<int64_t>(i));
      RC_ASSERT(mesh.index(rest, group[i]) == mesh.index(rest, group[0]));
      RC_ASSERT(seen.insert(group[i]).second);
    }
  }
  RC_ASSERT(static_cast<int64_t>(seen.size()) == mesh.numDevices());
}

TEST(Mesh, groupsFollowTheOrderOfTheList) {
  Mesh mesh({2, 3});
  auto groups = mesh.groups({mesh.fullAxis(1), mesh.fullAxis(0)});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0], (llvm::SmallVector<int64_t>{0, 3, 1, 4, 2, 5}));
}

TEST(Mesh, identityDeviceIdsAreDropped) {
  EXPECT_EQ(Mesh({2, 2}, {0, 1, 2, 3}), Mesh({2, 2}));
  Mesh swapped({2}, {1, 0});
  EXPECT_NE(swapped, Mesh({2}));
  EXPECT_EQ(swapped.deviceAt(0), 1);
  EXPECT_NE(Mesh({}, {0}), Mesh());
}

TEST(Mesh, allAxes) {
  Mesh mesh({2, 3});
  EXPECT_EQ(mesh.allAxes(), (AxisList{{0, 1, 2}, {1, 1, 3}}));
  EXPECT_TRUE(mesh.isFull({1, 1, 3}));
  EXPECT_FALSE(Mesh({4}).isFull({0, 1, 2}));
}

} // namespace
