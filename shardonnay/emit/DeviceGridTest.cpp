//===- DeviceGridTest.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/DeviceGrid.h"

#include <gtest/gtest.h>

using namespace shardonnay;
using Ids = DeviceGrid::Ids;

TEST(DeviceGrid, AMeshIsPartitionsReplicasOrBoth) {
  EXPECT_EQ(DeviceGrid::get(8, 1, 1)->partitions(), 8);
  EXPECT_EQ(DeviceGrid::get(4, 2, 4)->place(), Ids::Partitions);
  EXPECT_EQ(DeviceGrid::get(8, 8, 1)->place(), Ids::Replicas);
  EXPECT_EQ(DeviceGrid::get(8, 2, 4)->place(), Ids::Flattened);
  EXPECT_FALSE(DeviceGrid::get(2, 2, 4));
  EXPECT_FALSE(DeviceGrid::get(8, 0, 8));
  EXPECT_FALSE(DeviceGrid::get(8, -2, -4));
}

TEST(DeviceGrid, EveryReplicaHasTheGroupsOfThePartitions) {
  DeviceGrid grid = *DeviceGrid::get(4, 2, 4);
  DeviceRows groups = {{0, 2}, {1, 3}};
  EXPECT_EQ(grid.flattened(groups),
            (DeviceRows{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(grid.oneKind(groups)->ids, Ids::Partitions);
  EXPECT_EQ(grid.oneKind(groups)->rows, groups);
}

TEST(DeviceGrid, PairsOfAllDevicesAreOfPartitionsOrOfReplicas) {
  DeviceGrid grid = *DeviceGrid::get(8, 2, 4);
  auto inside = grid.oneKind({{0, 1}, {1, 0}, {4, 5}, {5, 4}});
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->ids, Ids::Partitions);
  EXPECT_EQ(inside->rows, (DeviceRows{{0, 1}, {1, 0}}));
  auto across = grid.oneKind({{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  ASSERT_TRUE(across);
  EXPECT_EQ(across->ids, Ids::Replicas);
  EXPECT_EQ(across->rows, (DeviceRows{{0, 1}}));
  // Neither: one replica does what the other does not, or a pair changes both.
  EXPECT_FALSE(grid.oneKind({{0, 1}, {1, 0}}));
  EXPECT_FALSE(grid.oneKind({{0, 1}, {4, 6}}));
  EXPECT_FALSE(grid.oneKind({{0, 5}, {4, 1}}));
}
