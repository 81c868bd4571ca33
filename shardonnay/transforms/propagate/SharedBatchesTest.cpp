//===- SharedBatchesTest.cpp ----------------------------------------------===//
//-----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/SharedBatches.h"
#include "shardonnay/transforms/propagate/PropagatedGraph.h"
#include "gtest/gtest.h"

using namespace shardonnay;

namespace {

constexpr AxisRef x{0, 1, 8};

/// Rows [batches * size, 4] that are sharded by x, split into batches that a
/// loop carries and takes one at a time:
///   split = reshape(rows)
///   carried = edge(split)
///   batch = slice(carried)
struct Batches : PropagatedGraph {
  int32_t rows, split, carried, batch;
  static constexpr int32_t kEdge = 1;

  Batches(int64_t number, int64_t size,
          PropagationClass user = PropagationClass::PassThroughForward,
          int64_t slicedDim = 0) {
    TensorSharding byRows = TensorSharding::fullyClosed(2);
    byRows.dims[0].axes = {x};
    rows = tensor(byRows, 0);
    split = tensor(TensorSharding::fullyOpen(3));
    carried = tensor(TensorSharding::fullyOpen(3));
    batch = tensor(TensorSharding::fullyOpen(3));
    FactorRuleBuilder reshape({2}, {3});
    reshape.add(number, {0}, {0});
    reshape.add(size, {0}, {1});
    reshape.add(4, {1}, {2});
    graph.addOp(passing(reshape.build()), {rows, split});
    graph.addOp(passing(identityRule({number, size, 4})), {split, carried});
    FactorRuleBuilder slice({3}, {3});
    const int64_t sizes[] = {number, size, 4};
    for (int64_t dim = 0; dim < 3; ++dim)
      slice.add(sizes[dim], {dim}, {dim},
                dim == slicedDim ? FactorKind::NeedReplication
                                 : FactorKind::PassThrough);
    graph.addOp(passing(slice.build(), user), {carried, batch});
    propagate();
  }

  std::vector<SharedBatch> splits() {
    return findSharedBatches(graph, {kEdge}, given, propagated);
  }
};

TEST(SharedBatchesTest, TheRowsOfABatchHaveTheAxes) {
  // 8 and 16 batches have all of the axis otherwise, 6 a half, and 3 none.
  for (int64_t number : {3, 6, 8, 16}) {
    Batches batches(number, 16);
    std::vector<SharedBatch> splits = batches.splits();
    ASSERT_EQ(splits.size(), 1u) << number;
    EXPECT_EQ(splits[0].tensor, batches.split);
    const TensorSharding &sharding =
        batches.graph.shardingOf(splits[0].shardingId).sharding;
    EXPECT_TRUE(sharding.dims[0].axes.empty());
    EXPECT_EQ(sharding.dims[1].axes, AxisList({x}));
    EXPECT_TRUE(sharding.dims[2].axes.empty());
  }
}

TEST(SharedBatchesTest, RowsThatTheAxesDoNotDivideStay) {
  EXPECT_TRUE(Batches(3, 12).splits().empty());
}

TEST(SharedBatchesTest, WhatNoOpTakesSlicesOfStays) {
  EXPECT_TRUE(Batches(3, 16, PropagationClass::PassThrough).splits().empty());
}

TEST(SharedBatchesTest, RowsThatAreTakenOneByOneStay) {
  for (int64_t dim : {1, 2})
    EXPECT_TRUE(Batches(8, 16, PropagationClass::PassThroughForward, dim)
                    .splits()
                    .empty());
}

TEST(SharedBatchesTest, WhatWasGivenStays) {
  Batches batches(3, 16);
  batches.given[batches.split] =
      batches.graph.intern({TensorSharding::fullyClosed(3), 0});
  EXPECT_TRUE(batches.splits().empty());
}

} // namespace
