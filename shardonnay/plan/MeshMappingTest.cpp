//===- MeshMappingTest.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/MeshMapping.h"
#include "shardonnay/algebra/Generators.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

TEST(MeshMapping, workedExamples) {
  Mesh ab({2, 4});
  std::optional<MeshMapping> zw = MeshMapping::get(Mesh({4, 2}), ab);
  ASSERT_TRUE(zw);
  EXPECT_EQ(zw->map({{0, 1, 4}}), (AxisList{{0, 1, 2}, {1, 1, 2}}));
  EXPECT_EQ(zw->map({{1, 1, 2}}), (AxisList{{1, 2, 2}}));
  EXPECT_EQ(zw->map({{0, 1, 2}}), (AxisList{{0, 1, 2}}));
  // Both together are all devices in order, the other way around not.
  EXPECT_EQ(zw->map({{0, 1, 4}, {1, 1, 2}}), (AxisList{{0, 1, 2}, {1, 1, 4}}));

  std::optional<MeshMapping> pq =
      MeshMapping::get(Mesh({4, 2}, {0, 4, 1, 5, 2, 6, 3, 7}), ab);
  ASSERT_TRUE(pq);
  EXPECT_EQ(pq->map({{0, 1, 4}}), (AxisList{{1, 1, 4}}));
  EXPECT_EQ(pq->map({{1, 1, 2}}), (AxisList{{0, 1, 2}}));

  std::optional<MeshMapping> st = MeshMapping::get(Mesh({2, 3}), Mesh({3, 2}));
  ASSERT_TRUE(st);
  EXPECT_FALSE(st->map({{0, 1, 2}}));
  EXPECT_EQ(st->map({{0, 1, 2}, {1, 1, 3}}), (AxisList{{0, 1, 3}, {1, 1, 2}}));
  EXPECT_FALSE(st->map({{1, 1, 3}, {0, 1, 2}}));
  EXPECT_EQ(st->map(AxisList()), AxisList());
}

TEST(MeshMapping, otherOrdersAreNone) {
  AxisList full = {{0, 1, 4}}, minor = {{0, 2, 2}};
  EXPECT_FALSE(MeshMapping::get(Mesh({4}, {3, 2, 1, 0}), Mesh({4}))->map(full));
  EXPECT_FALSE(MeshMapping::get(Mesh({4}, {1, 2, 3, 0}), Mesh({4}))->map(full));
  // Right at the first two devices only.
  EXPECT_FALSE(
      MeshMapping::get(Mesh({4}, {0, 1, 3, 2}), Mesh({4}))->map(minor));
  EXPECT_FALSE(MeshMapping::get(Mesh({4}), Mesh({8})));
  // Both in the same unusual order.
  std::optional<MeshMapping> same =
      MeshMapping::get(Mesh({4}, {3, 2, 1, 0}), Mesh({2, 2}, {3, 2, 1, 0}));
  ASSERT_TRUE(same);
  EXPECT_EQ(same->map(full), (AxisList{{0, 1, 2}, {1, 1, 2}}));
}

/// Law: every device has the same index along a list and its image.
RC_GTEST_PROP(MeshMapping, devicesKeepTheirIndex, ()) {
  auto sizes = *rc::gen::container<std::vector<int64_t>>(
      3, rc::gen::element<int64_t>(2, 3, 4));
  Mesh from(sizes);
  // The same devices, axes exchanged, then all as one axis or split anew.
  std::vector<int64_t> order = {0, 1, 2};
  order = *rc::gen::element(order, std::vector<int64_t>{2, 0, 1},
                            std::vector<int64_t>{1, 0, 2});
  std::vector<int64_t> exchanged, devices;
  for (int64_t axis : order)
    exchanged.push_back(sizes[axis]);
  Mesh plain(exchanged);
  for (int64_t p = 0; p < plain.numDevices(); ++p) {
    int64_t device = 0;
    for (int64_t axis = 0; axis < 3; ++axis) {
      auto at = llvm::find(order, axis) - order.begin();
      device = device * sizes[axis] + plain.coordinate(plain.fullAxis(at), p);
    }
    devices.push_back(device);
  }
  Mesh to(exchanged, devices);
  auto mapping = MeshMapping::get(from, to);
  RC_ASSERT(mapping.has_value());
  AxisList axes = {from.fullAxis(*rc::gen::inRange<int64_t>(0, 3))};
  auto image = mapping->map(axes);
  RC_ASSERT(image.has_value());
  for (int64_t p = 0; p < from.numDevices(); ++p)
    for (int64_t q = 0; q < to.numDevices(); ++q)
      if (from.deviceAt(p) == to.deviceAt(q))
        RC_ASSERT(from.index(axes, p) == to.index(*image, q));
}

} // namespace
