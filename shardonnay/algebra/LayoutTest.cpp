//===- LayoutTest.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/Generators.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

RC_GTEST_PROP(Layout, slicesAreTheTilesOfTheTensor, ()) {
  Mesh mesh = gen::mesh();
  Layout layout = gen::unpadded(gen::splitting(mesh), 2, true), copy = layout;
  gen::pad(layout, copy);
  // Every element is held by as many devices: those that differ along unused
  // and partial axes.
  std::vector<int64_t> holders(layout.padded[0] * layout.padded[1]);
  for (int64_t p = 0; p < mesh.numDevices(); ++p) {
    auto slice = layout.slice(mesh, p);
    for (int64_t i = slice[0].start; i < slice[0].limit; ++i)
      for (int64_t j = slice[1].start; j < slice[1].limit; ++j)
        ++holders[i * layout.padded[1] + j];
  }
  int64_t shards = layout.dims[0].numShards() * layout.dims[1].numShards();
  RC_ASSERT(llvm::all_equal(holders));
  RC_ASSERT(holders[0] == mesh.numDevices() / shards);
  RC_ASSERT(layout.localElements() * shards ==
            layout.padded[0] * layout.padded[1]);
}

TEST(Layout, unevenDimPadsToTheNextMultiple) {
  Mesh mesh({4});
  TensorSharding sharding = TensorSharding::fullyClosed(1);
  sharding.dims[0].axes = mesh.allAxes();
  Layout layout = Layout::get(sharding, {5});
  EXPECT_EQ(layout.padded[0], 8);
  EXPECT_EQ(layout.localShape()[0], 2);
  EXPECT_EQ(layout.slice(mesh, 2)[0], (Interval{4, 6}));
  EXPECT_EQ(layout.sliceOf(mesh, 2, {5})[0], (Interval{4, 5}));
  EXPECT_TRUE(layout.sliceOf(mesh, 3, {5})[0].empty());
  EXPECT_EQ(layout.toSharding(), sharding);
}

TEST(Layout, partialAxesMustAgree) {
  Layout whole = Layout::replicated({4, 4}), partial = whole;
  partial.partial = {{0, 1, 2}};
  EXPECT_NE(whole, partial);
  Layout max = partial;
  max.kind = ReductionKind::Max;
  EXPECT_NE(partial, max);
}

TEST(Layout, usedAxesAreSortedAndMerged) {
  Layout layout = Layout::replicated({4, 4});
  layout.dims[0] = {{0, 2, 2}};
  layout.dims[1] = {{1, 1, 3}};
  layout.partial = {{0, 1, 2}};
  EXPECT_EQ(layout.usedAxes(), (AxisList{{0, 1, 4}, {1, 1, 3}}));
}

TEST(Layout, prints) {
  Layout layout = Layout::replicated({8, 6});
  layout.dims[0] = {{0, 1, 4}};
  layout.partial = {{1, 1, 2}};
  std::string text;
  llvm::raw_string_ostream(text) << layout;
  EXPECT_EQ(text, "<8[0:(1)4] x 6[] partial=sum[1:(1)2]>");
}

TEST(TensorSharding, opennessAndUse) {
  TensorSharding sharding = TensorSharding::fullyOpen(2);
  EXPECT_TRUE(sharding.isReplicated());
  sharding.replicated = {{0, 1, 2}};
  EXPECT_TRUE(sharding.isReplicated());
  EXPECT_TRUE(sharding.uses({0, 1, 4}));
  EXPECT_FALSE(sharding.uses({0, 2, 2}));
  sharding.dims[1].axes = {{1, 1, 2}};
  EXPECT_FALSE(sharding.isReplicated());
  EXPECT_TRUE(sharding.uses({1, 1, 2}));
  std::string text;
  llvm::raw_string_ostream(text) << sharding;
  EXPECT_EQ(text, "[{?}, {1:(1)2, ?}] replicated=[0:(1)2]");
}

} // namespace
