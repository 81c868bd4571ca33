//===- GivenOrdersTest.cpp ------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/GivenOrders.h"
#include "shardonnay/transforms/propagate/PropagationEngine.h"
#include "gtest/gtest.h"

using namespace shardonnay;

namespace {

constexpr AxisRef x{0, 1, 2};

/// Rules that outlive all graphs.
const FactorRule *keep(const FactorRule &rule) {
  static Interner<FactorRule> rules;
  return &rules[rules.intern(rule)];
}

/// h [8, 8] -> tanh(h w + batch), w [8, 8], as often as `runs`.
struct Recurrence {
  PropagationGraph graph;
  int32_t h, w, product, batch, sum;
  GraphWeights weights;

  Recurrence(AxisList ofRows, AxisList ofBatch, double runs = 1) {
    h = tensor();
    w = tensor(ofRows);
    product = tensor();
    batch = tensor(ofBatch);
    sum = tensor();
    FactorRuleBuilder rule({2, 2}, 2);
    rule.add(8, {0, -1}, 0);
    rule.add(8, {-1, 1}, 1);
    rule.add(8, {1, 0}, -1, FactorKind::Reduction);
    OpSignature dot, add;
    dot.rule = keep(rule.build());
    add.rule = keep(identityRule({8, 8}, 2));
    add.elementwise = true;
    add.propagationClass = PropagationClass::PassThrough;
    graph.addOp(dot, {h, w, product});
    graph.addOp(add, {product, batch, sum});
    graph.connect();
    weights.bytes.assign(5, 256);
    weights.runs.assign(2, runs);
  }

  int32_t tensor(AxisList ofRows = {}) {
    TensorSharding sharding = TensorSharding::fullyOpen(2);
    sharding.dims[0].axes = std::move(ofRows);
    return graph.addTensor(graph.intern({sharding, 0}));
  }
  std::vector<int32_t> propagated() {
    propagateByUserPriority(graph, PropagationStrategy::Aggressive, true);
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < graph.numTensors(); ++i)
      ids.push_back(graph.shardingId(i));
    return ids;
  }
};

TEST(DimGroupsTest, DimsOfOneFactorAreOneGroup) {
  Recurrence step({}, {});
  DimGroups groups(step.graph);
  EXPECT_EQ(groups.size(), 3);
  EXPECT_EQ(groups.groupOf(step.h, 0), groups.groupOf(step.sum, 0));
  EXPECT_EQ(groups.groupOf(step.h, 1), groups.groupOf(step.w, 0));
  EXPECT_EQ(groups.groupOf(step.w, 1), groups.groupOf(step.batch, 1));
  EXPECT_NE(groups.groupOf(step.h, 0), groups.groupOf(step.h, 1));
}

TEST(DimGroupsTest, TensorsOfAShardingGroupGoTogether) {
  Recurrence step({}, {});
  step.graph.addGroup({step.h, step.w});
  DimGroups groups(step.graph);
  EXPECT_EQ(groups.size(), 1);
}

TEST(GivenOrdersTest, NothingCompetesWithOneGroup) {
  Recurrence none({}, {x});
  EXPECT_EQ(GivenOrders(none.graph, none.weights, 3).size(), 0u);
}

TEST(GivenOrdersTest, WhatIsReducedOftenComesLater) {
  // In a loop w is gathered once, or each product is reduced.
  Recurrence loop({x}, {x}, 100);
  GivenOrders orders(loop.graph, loop.weights, 3);
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders.findLater(0), (std::vector<GivenDim>{{loop.w, 0}}));
  EXPECT_EQ(orders.findLater(1), (std::vector<GivenDim>{{loop.batch, 0}}));
  // Behind the last order there is none.
  EXPECT_EQ(orders.findLater(2), orders.findLater(1));
}

TEST(GivenOrdersTest, WhatIsLargeIsNotGathered) {
  Recurrence large({x}, {x});
  large.weights.bytes[large.w] = 1e6;
  GivenOrders orders(large.graph, large.weights, 3);
  EXPECT_EQ(orders.findLater(0), (std::vector<GivenDim>{{large.batch, 0}}));
}

/// y = x w, z = y v: the rows and columns of w meet, so do those of v, and the
/// batch meets all of them, but not the rows of w the columns of v.
struct TwoLayers {
  PropagationGraph graph;
  int32_t x, w, y, v, z;
  GraphWeights weights;

  TwoLayers(AxisList ofBatch, AxisList ofInput, AxisList ofOutput) {
    x = tensor({}, std::move(ofBatch));
    w = tensor({}, std::move(ofInput));
    y = tensor({}, {});
    v = tensor(std::move(ofOutput), {});
    z = tensor({}, {});
    FactorRuleBuilder rule({2, 2}, 2);
    rule.add(8, {0, -1}, 0);
    rule.add(8, {-1, 1}, 1);
    rule.add(8, {1, 0}, -1, FactorKind::Reduction);
    OpSignature dot;
    dot.rule = keep(rule.build());
    graph.addOp(dot, {x, w, y});
    graph.addOp(dot, {y, v, z});
    graph.connect();
    weights.bytes.assign(5, 256);
    weights.runs.assign(2, 1);
  }

  int32_t tensor(AxisList ofColumns, AxisList ofRows) {
    TensorSharding sharding = TensorSharding::fullyOpen(2);
    sharding.dims[0].axes = std::move(ofRows);
    sharding.dims[1].axes = std::move(ofColumns);
    return graph.addTensor(graph.intern({sharding, 0}));
  }
};

TEST(GivenOrdersTest, WhatNoOpHasBothOfDoesNotCompete) {
  TwoLayers layers({}, {x}, {x});
  EXPECT_EQ(GivenOrders(layers.graph, layers.weights, 3).size(), 0u);
}

TEST(GivenOrdersTest, GroupsThatAreNoRivalsComeFirstTogether) {
  TwoLayers layers({x}, {x}, {x});
  layers.weights.bytes[layers.w] = layers.weights.bytes[layers.v] = 1e6;
  GivenOrders orders(layers.graph, layers.weights, 3);
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders.findLater(0), (std::vector<GivenDim>{{layers.x, 0}}));
  EXPECT_EQ(orders.findLater(1),
            (std::vector<GivenDim>{{layers.w, 0}, {layers.v, 1}}));
  EXPECT_EQ(GivenOrders(layers.graph, layers.weights, 1).size(), 1u);
}

TEST(GivenOrdersTest, WhatLeavesResultsWholeComesLater) {
  // With the columns of v first less is gathered, but y has none of them.
  TwoLayers layers({x}, {}, {x});
  layers.weights.bytes[layers.v] = 1e5;
  layers.weights.bytes[layers.y] = 1e6;
  GivenOrders orders(layers.graph, layers.weights, 3);
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders.findLater(0), (std::vector<GivenDim>{{layers.v, 1}}));
}

TEST(GivenOrdersTest, AnAxisWithoutRivalsHoldsNoDimBack) {
  AxisRef y{1, 1, 2};
  TwoLayers layers({x, y}, {x}, {});
  layers.weights.bytes[layers.w] = 1e6;
  GivenOrders orders(layers.graph, layers.weights, 3);
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders.findLater(0), (std::vector<GivenDim>{{layers.x, 0}}));
}

TEST(GivenOrdersTest, SharesAreOfWhatIsMade) {
  Recurrence loop({x}, {x}, 100);
  GivenOrders orders(loop.graph, loop.weights, 3);
  // Before propagation neither of the two results has the batch sharded.
  EXPECT_EQ(orders.contestedShare(0), 1);
  std::vector<int32_t> before;
  for (int32_t i = 0; i < loop.graph.numTensors(); ++i)
    before.push_back(loop.graph.shardingId(i));
  std::vector<int32_t> after = loop.propagated();
  EXPECT_EQ(orders.contestedShare(0), 0);
  EXPECT_EQ(orders.differingShare(before, after), 1);
  EXPECT_EQ(orders.differingShare(after, after), 0);
  // As often as it is made: all but a hundredth is in one op's result.
  loop.weights.runs = {1, 99};
  after[loop.product] = before[loop.product];
  EXPECT_EQ(orders.differingShare(before, after), 0.99);
}

} // namespace
