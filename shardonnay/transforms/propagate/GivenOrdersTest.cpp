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
  EXPECT_EQ(GivenOrders(none.graph, none.weights).size(), 0u);
}

TEST(GivenOrdersTest, WhatIsReducedOftenComesLater) {
  // In a loop w is gathered once, or each product is reduced.
  Recurrence loop({x}, {x}, 100);
  GivenOrders orders(loop.graph, loop.weights);
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders.findLater(0), (std::vector<GivenDim>{{loop.w, 0}}));
  EXPECT_EQ(orders.findLater(1), (std::vector<GivenDim>{{loop.batch, 0}}));
  // Behind the last order there is none.
  EXPECT_EQ(orders.findLater(2), orders.findLater(1));
}

TEST(GivenOrdersTest, WhatIsLargeIsNotGathered) {
  Recurrence large({x}, {x});
  large.weights.bytes[large.w] = 1e6;
  GivenOrders orders(large.graph, large.weights);
  EXPECT_EQ(orders.findLater(0), (std::vector<GivenDim>{{large.batch, 0}}));
}

TEST(GivenOrdersTest, SharesAreOfWhatIsMade) {
  Recurrence loop({x}, {x}, 100);
  GivenOrders orders(loop.graph, loop.weights);
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
