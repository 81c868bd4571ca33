//===- ManualBoundaryTest.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/ManualBoundary.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace shardonnay;

namespace {

constexpr AxisRef kM{0, 1, 2}, kN{1, 1, 4}, kF{2, 1, 2};

TensorSharding open(llvm::ArrayRef<AxisList> dims) {
  TensorSharding sharding = TensorSharding::fullyOpen(dims.size());
  for (auto [i, axes] : llvm::enumerate(dims))
    sharding.dims[i].axes = axes;
  return sharding;
}

TEST(ManualBoundaryTest, AxesThatShardNothingAreReplicatedOutside) {
  ManualBoundary boundary =
      ManualBoundary::get(open({AxisList{kM, kF}, AxisList()}), {kM, kN});
  TensorSharding outer = boundary.toOuter(open({AxisList{kF}, AxisList()}));
  EXPECT_EQ(outer.dims[0].axes, (AxisList{kM, kF}));
  EXPECT_EQ(outer.replicated, AxisList{kN});
}

TEST(ManualBoundaryTest, InnerOfOuterIsTheSame) {
  ManualBoundary boundary =
      ManualBoundary::get(open({AxisList{kM}, AxisList{kN}}), {kM, kN});
  TensorSharding inner = open({AxisList(), AxisList{kF}});
  inner.dims[0].closed = true;
  inner.dims[1].priority = 3;
  EXPECT_EQ(boundary.toInner(boundary.toOuter(inner)), inner);
}

TEST(ManualBoundaryTest, UnreducedAxesAreNotReplicated) {
  TensorSharding sharding = open({AxisList()});
  sharding.unreduced = {kM};
  sharding.kind = ReductionKind::Max;
  ManualBoundary boundary = ManualBoundary::get(sharding, {kM});
  TensorSharding outer = boundary.toOuter(open({AxisList{kF}}));
  EXPECT_EQ(outer.unreduced, AxisList{kM});
  EXPECT_EQ(outer.kind, ReductionKind::Max);
  EXPECT_TRUE(outer.replicated.empty());
  EXPECT_EQ(boundary.toInner(outer), open({AxisList{kF}}));
}

TEST(ManualBoundaryTest, WithoutTheManualAxesAShardingIsNotOutside) {
  ManualBoundary boundary = ManualBoundary::get(open({AxisList{kM}}), {kM});
  EXPECT_TRUE(boundary.isOutside(open({AxisList{kM, kF}})));
  EXPECT_FALSE(boundary.isOutside(open({AxisList{kF}})));
}

} // namespace
