//===- PropagationEngineTest.cpp ------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/PropagationEngine.h"
#include "gtest/gtest.h"

using namespace shardonnay;

namespace {

constexpr AxisRef x{0, 1, 2}, y{1, 1, 2};

DimSharding open(AxisList axes = {}, int64_t priority = 0) {
  return {axes, /*closed=*/false, priority};
}
DimSharding closed(AxisList axes = {}, int64_t priority = 0) {
  return {axes, /*closed=*/true, priority};
}

/// Rules that outlive all graphs.
const FactorRule *keep(const FactorRule &rule) {
  static Interner<FactorRule> rules;
  return &rules[rules.intern(rule)];
}

OpSignature elementwise(int64_t numOperands) {
  OpSignature form;
  form.rule = keep(identityRule({8, 8}, numOperands));
  form.elementwise = true;
  form.propagationClass = PropagationClass::PassThrough;
  return form;
}

OpSignature dot() {
  FactorRuleBuilder rule({2, 2}, 2);
  rule.add(8, {0, -1}, 0);
  rule.add(8, {-1, 1}, 1);
  rule.add(8, {1, 0}, -1, FactorKind::Reduction);
  OpSignature form;
  form.rule = keep(rule.build());
  return form;
}

/// Graphs of 8x8 tensors, on mesh 0 unless said otherwise.
struct Graph : PropagationGraph {
  int32_t tensor(llvm::ArrayRef<DimSharding> dims = {open(), open()},
                 int32_t mesh = 0) {
    TensorSharding sharding;
    sharding.dims.assign(dims.begin(), dims.end());
    return addTensor(intern({sharding, mesh}));
  }
  /// `addElementwise({a, b, c})`: c from a and b.
  void addElementwise(llvm::ArrayRef<int32_t> ids) {
    addOp(elementwise(ids.size() - 1), ids);
  }
  Graph &connected() {
    connect();
    return *this;
  }
  AxisList axes(int32_t tensor, int64_t dim) const {
    return sharding(tensor).dims[dim].axes;
  }
};

TEST(Sweep, GoesBothWaysThroughAChain) {
  Graph graph;
  int32_t a = graph.tensor(), b = graph.tensor({open({x}), open()}),
          c = graph.tensor();
  graph.addElementwise({a, b});
  graph.addElementwise({b, c});
  propagate(graph.connected(), PropagationStrategy::Basic);
  EXPECT_EQ(graph.axes(a, 0), AxisList{x});
  EXPECT_EQ(graph.axes(c, 0), AxisList{x});
}

TEST(Sweep, MeshesDoNotMix) {
  for (int32_t other : {1, kNone}) {
    Graph graph;
    int32_t a = graph.tensor({open({x}), open()}),
            b = graph.tensor({open(), open()}, other), c = graph.tensor();
    graph.addElementwise({a, b, c});
    propagate(graph.connected(), PropagationStrategy::Aggressive);
    EXPECT_EQ(graph.axes(c, 0), other == 1 ? AxisList() : AxisList{x});
    EXPECT_EQ(graph.mesh(b), other == 1 ? 1 : 0);
  }
}

TEST(Sweep, GroupMembersMirrorEachOther) {
  Graph graph;
  int32_t a = graph.tensor({open({x}), open()}), b = graph.tensor(),
          member = graph.tensor();
  graph.addElementwise({a, b});
  graph.addGroup({b, member});
  propagate(graph.connected(), PropagationStrategy::Basic);
  EXPECT_EQ(graph.axes(member, 0), AxisList{x});
}

TEST(Sweep, BlockedFactorsStay) {
  Graph graph;
  int32_t a = graph.tensor({open({x}), open({y})}), b = graph.tensor();
  OpSignature form = elementwise(1);
  FactorRule rule = *form.rule;
  rule.factors[0].blocked = true;
  form.rule = keep(rule);
  graph.addOp(form, {a, b});
  propagate(graph.connected(), PropagationStrategy::Basic);
  EXPECT_TRUE(graph.axes(b, 0).empty());
  EXPECT_EQ(graph.axes(b, 1), AxisList{y});
}

TEST(Sweep, BarriersAllowOneDirection) {
  Graph graph;
  int32_t a = graph.tensor(), b = graph.tensor({open({x}), open()}),
          c = graph.tensor();
  OpSignature form = elementwise(1);
  form.allowed = Direction::Forward;
  graph.addOp(form, {a, b});
  graph.addOp(form, {b, c});
  propagate(graph.connected(), PropagationStrategy::Basic);
  EXPECT_TRUE(graph.axes(a, 0).empty());
  EXPECT_EQ(graph.axes(c, 0), AxisList{x});
}

/// More tensors than the engine remembers steps for.
TEST(Sweep, WideOps) {
  Graph graph;
  llvm::SmallVector<int32_t> ids = {graph.tensor({open({x}), open()})};
  while (ids.size() < 12)
    ids.push_back(graph.tensor());
  graph.addElementwise(ids);
  propagate(graph.connected(), PropagationStrategy::Basic);
  EXPECT_EQ(graph.axes(ids.back(), 0), AxisList{x});
}

/// The same step on other tensors, and after a tensor changed.
TEST(Sweep, EqualOpsDoEqualSteps) {
  Graph graph;
  int32_t first = graph.tensor({open({x}), open()}), last = first;
  for (int i = 0; i < 1000; ++i) {
    int32_t next = graph.tensor();
    graph.addElementwise({last, next});
    last = next;
  }
  int32_t end = graph.tensor({open(), open({y})});
  graph.addElementwise({last, end});
  propagate(graph.connected(), PropagationStrategy::Basic);
  EXPECT_EQ(graph.axes(end, 0), AxisList{x});
  EXPECT_EQ(graph.axes(first, 1), AxisList{y});
}

/// lhs . rhs = d, d + bias = e: the dot offers x for dim 0 of d, the addition
/// for dim 1.
struct DotAndBias : Graph {
  int32_t lhs = tensor({closed({x}), closed()}), rhs = tensor(),
          bias = tensor({closed(), closed({x})}), d = tensor(), e = tensor();
  DotAndBias() {
    addOp(dot(), {lhs, rhs, d});
    OpSignature add = elementwise(2);
    add.onlyUser = true;
    addOp(add, {d, bias, e});
    connect();
  }
};

TEST(OpPriority, ElementwiseBeforeDot) {
  DotAndBias inOrder, byLevels;
  propagate(inOrder, PropagationStrategy::Aggressive);
  EXPECT_EQ(inOrder.axes(inOrder.d, 0), AxisList{x});
  propagateByOpPriority(byLevels, PropagationStrategy::Aggressive);
  EXPECT_EQ(byLevels.axes(byLevels.d, 1), AxisList{x});
}

TEST(OpPriority, BroadcastForwardLast) {
  for (bool other : {false, true}) {
    Graph graph;
    int32_t small = graph.tensor({open({x}), open()}), big = graph.tensor(),
            from = graph.tensor({open(), other ? open({x}) : open()});
    OpSignature broadcast, compute;
    broadcast.rule = compute.rule = keep(identityRule({8, 8}));
    broadcast.propagationClass = PropagationClass::BroadcastBackward;
    graph.addOp(broadcast, {small, big});
    graph.addOp(compute, {from, big});
    propagateByOpPriority(graph.connected(), PropagationStrategy::Aggressive);
    EXPECT_EQ(graph.axes(big, other ? 1 : 0), AxisList{x});
  }
}

TEST(UserPriority, LaterDimsWait) {
  Graph graph;
  int32_t a = graph.tensor({closed({x}, 1), closed()}),
          b = graph.tensor({closed(), closed({x})}), c = graph.tensor();
  graph.addElementwise({a, b, c});
  propagateByUserPriority(graph.connected(), PropagationStrategy::Aggressive,
                          /*byOpPriority=*/true);
  EXPECT_EQ(graph.axes(c, 1), AxisList{x});
  EXPECT_EQ(graph.sharding(a).dims[0], closed({x}));
}

TEST(UserPriority, NobodyTakesTheAxesOfAWaitingDim) {
  Graph graph;
  int32_t a = graph.tensor({open({x}, 1), open()}),
          b = graph.tensor({closed(), closed({x})});
  graph.addElementwise({a, b});
  propagateByUserPriority(graph.connected(), PropagationStrategy::Aggressive,
                          /*byOpPriority=*/false);
  EXPECT_EQ(graph.axes(a, 0), AxisList{x});
  EXPECT_TRUE(graph.axes(a, 1).empty());
  EXPECT_TRUE(graph.sharding(a).replicated.empty());
}

/// The parked parts of an axis merge, and come back one by one.
TEST(UserPriority, SubAxesOfOneAxisInTwoRounds) {
  constexpr AxisRef major{0, 1, 2}, minor{0, 2, 2};
  Graph graph;
  int32_t a = graph.tensor({closed({minor}, 2), closed({major}, 1)}),
          b = graph.tensor();
  graph.addElementwise({a, b});
  propagateByUserPriority(graph.connected(), PropagationStrategy::Basic, false);
  EXPECT_EQ(graph.axes(b, 0), AxisList{minor});
  EXPECT_EQ(graph.axes(b, 1), AxisList{major});
  EXPECT_TRUE(graph.sharding(a).replicated.empty());
}

} // namespace
