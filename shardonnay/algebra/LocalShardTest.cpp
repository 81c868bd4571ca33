//===- LocalShardTest.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/LocalShard.h"
#include <gtest/gtest.h>

using namespace shardonnay;

namespace {

const AxisRef x{0, 1, 2}, y{1, 1, 2};

/// Writes down what happens, with the local sizes before it.
class Recorder : public LocalShard {
public:
  using LocalShard::localShape;
  using LocalShard::LocalShard;

  std::string text;

private:
  void note(llvm::StringRef what) {
    text += what;
    for (int64_t size : localShape())
      text += " " + std::to_string(size);
    text += "; ";
  }
  void onAllGather(int64_t, const AxisList &) override { note("gather"); }
  void onAllSlice(int64_t, const AxisList &, int64_t) override {
    note("slice");
  }
  void onAllToAll(int64_t, int64_t, const AxisList &) override {
    note("all-to-all");
  }
  void onAllReduce(const AxisList &, ReductionKind) override { note("reduce"); }
  void onReduceScatter(int64_t, const AxisList &, ReductionKind,
                       int64_t) override {
    note("scatter");
  }
  void onPermute(llvm::ArrayRef<AxisList>, bool otherDevices) override {
    note(otherDevices ? "reorder" : "permute");
  }
  void onShardedToUnreduced(int64_t, const AxisList &) override {
    note("to parts");
  }
  void onReplicatedToUnreduced(const AxisList &) override { note("to part"); }
  void onWindow(int64_t, const AxisList &, int64_t size) override {
    note("window of " + std::to_string(size) + " from");
  }
};

TEST(LocalShard, TheWorkedExample) {
  Recorder shard({AxisList({x, y})}, {10});
  shard.allGather(0, AxisList({y}));
  EXPECT_EQ(shard.text, "gather 3; window of 5 from 6; ");
  EXPECT_EQ(shard.localShape()[0], 5);
}

TEST(LocalShard, WhatNestsTakesNoWindow) {
  Recorder shard({AxisList({x, y}), AxisList()}, {8, 6});
  shard.allGather(0, AxisList({y}));
  shard.allToAll(0, 1, AxisList({x}));
  shard.allSlice(0, AxisList({x}));
  EXPECT_EQ(shard.text, "gather 2 6; all-to-all 4 6; slice 8 3; ");
  EXPECT_EQ(shard.localShape(), llvm::ArrayRef<int64_t>({4, 3}));
}

TEST(LocalShard, ASumIsScatteredInShardsThatDivide) {
  Recorder shard({AxisList({x})}, {10});
  shard.reduceScatter(0, AxisList({y}), ReductionKind::Sum);
  EXPECT_EQ(shard.text, "window of 6 from 5; scatter 6; ");
  EXPECT_EQ(shard.localShape()[0], 3);
}

TEST(LocalShard, ASliceThatDoesNotNestIsAWindow) {
  Recorder shard({AxisList({x})}, {10});
  shard.allSlice(0, AxisList({y}));
  EXPECT_EQ(shard.text, "window of 3 from 5; ");
}

TEST(LocalShard, PartsAndOrders) {
  Recorder shard({AxisList({x})}, {10});
  shard.permute({AxisList({y})});
  shard.permuteDevices({AxisList({x})});
  shard.shardedToUnreduced(0, AxisList({x}));
  shard.replicatedToUnreduced(AxisList({y}));
  shard.allReduce(AxisList({x, y}), ReductionKind::Max);
  EXPECT_EQ(shard.text,
            "permute 5; reorder 5; to parts 5; to part 10; reduce 10; ");
}

} // namespace
