//===- GivenCarriesTest.cpp -----------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/GivenCarries.h"
#include "shardonnay/transforms/propagate/PropagatedGraph.h"
#include "gtest/gtest.h"

using namespace shardonnay;

namespace {

constexpr AxisRef x{0, 1, 2};

/// A cache [4, 8] that a loop carries, behind a transpose of an argument and
/// before one to the result, and that meets tokens in the loop:
///   carried = edge(transpose(argument), updated)
///   updated = carried + tokens
///   result = transpose(carried)
struct Decoding : PropagatedGraph {
  int32_t argument, initial, carried, tokens, updated, moved, result;
  static constexpr int32_t kEdge = 1;

  Decoding(TensorSharding ofArgument, TensorSharding ofResult) {
    argument = tensor(ofArgument, 0);
    initial = tensor(TensorSharding::fullyOpen(2));
    carried = tensor(TensorSharding::fullyOpen(2));
    TensorSharding batch = TensorSharding::fullyOpen(2);
    batch.dims[0].axes = {x};
    tokens = tensor(batch, 0);
    updated = tensor(TensorSharding::fullyOpen(2));
    moved = tensor(TensorSharding::fullyOpen(2));
    result = tensor(ofResult, 0);
    FactorRuleBuilder rule({2}, {2});
    rule.add(4, {0}, {1});
    rule.add(8, {1}, {0});
    OpSignature transpose = passing(rule.build());
    graph.addOp(transpose, {argument, initial});
    graph.addOp(passing(identityRule({4, 8}, 2)), {initial, updated, carried});
    graph.addOp(passing(identityRule({4, 8}, 2)), {carried, tokens, updated});
    graph.addOp(transpose, {carried, moved});
    graph.addReturn(passing(identityRule({8, 4})), {moved, result});
    propagate();
  }

  std::vector<GivenCarry> carries() {
    return findGivenCarries(graph, {kEdge}, given, propagated);
  }
};

/// Rows and columns, as the argument and the result have them.
TensorSharding sharded(AxisList rows, AxisList columns) {
  TensorSharding sharding = TensorSharding::fullyClosed(2);
  sharding.dims[0].axes = std::move(rows);
  sharding.dims[1].axes = std::move(columns);
  return sharding;
}

TEST(GivenCarriesTest, WhatWouldBeGatheredBehindTheLoopStaysAsGiven) {
  Decoding decoding(TensorSharding::fullyClosed(2),
                    TensorSharding::fullyClosed(2));
  ASSERT_EQ(decoding.graph.sharding(decoding.carried).dims[0].axes,
            AxisList({x}));
  std::vector<GivenCarry> carries = decoding.carries();
  ASSERT_EQ(carries.size(), 2u);
  EXPECT_EQ(carries[0].tensor, decoding.carried);
  EXPECT_EQ(carries[1].tensor, decoding.updated);
  for (const GivenCarry &carry : carries)
    EXPECT_EQ(decoding.graph.shardingOf(carry.shardingId).sharding,
              TensorSharding::fullyClosed(2));
}

TEST(GivenCarriesTest, WhatIsReturnedAsItIsCarriedIsNoReason) {
  Decoding decoding(TensorSharding::fullyClosed(2), sharded({}, {x}));
  EXPECT_TRUE(decoding.carries().empty());
}

TEST(GivenCarriesTest, DimsAreThoseOfTheLoop) {
  constexpr AxisRef y{1, 1, 2};
  Decoding decoding(sharded({y}, {}), sharded({y}, {}));
  std::vector<GivenCarry> carries = decoding.carries();
  ASSERT_EQ(carries.size(), 2u);
  EXPECT_EQ(decoding.graph.shardingOf(carries[0].shardingId).sharding,
            sharded({}, {y}));
}

TEST(GivenCarriesTest, AResultThatWasGivenNothingIsNoReason) {
  Decoding decoding(TensorSharding::fullyClosed(2),
                    TensorSharding::fullyOpen(2));
  decoding.given[decoding.result] =
      decoding.graph.intern({TensorSharding::fullyOpen(2), kNone});
  EXPECT_TRUE(decoding.carries().empty());
}

} // namespace
