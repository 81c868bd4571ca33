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

/// Graphs of 8x8 tensors on one mesh.
struct Graph : PropagationGraph {
  int32_t tensor(llvm::ArrayRef<DimSharding> dims = {open(), open()}) {
    GraphTensor tensor;
    tensor.sharding.dims.assign(dims.begin(), dims.end());
    tensor.mesh = 0;
    tensors.push_back(tensor);
    return tensors.size() - 1;
  }

  GraphOp &op(FactorRule rule, llvm::ArrayRef<int32_t> ids) {
    GraphOp op;
    op.rule = std::move(rule);
    op.tensors.assign(ids.begin(), ids.end());
    ops.push_back(op);
    return ops.back();
  }
  GraphOp &elementwise(llvm::ArrayRef<int32_t> ids) {
    GraphOp &added = op(identityRule({8, 8}, ids.size() - 1), ids);
    added.elementwise = true;
    added.propagationClass = PropagationClass::PassThrough;
    return added;
  }
  GraphOp &dot(int32_t lhs, int32_t rhs, int32_t result) {
    FactorRuleBuilder rule({2, 2}, 2);
    rule.add(8, {0, -1}, 0);
    rule.add(8, {-1, 1}, 1);
    rule.add(8, {1, 0}, -1, FactorKind::Reduction);
    return op(rule.build(), {lhs, rhs, result});
  }

  /// Fills in the neighbours: the definition, then the users backwards.
  Graph &connect() {
    for (size_t i = 0; i < ops.size(); ++i)
      for (size_t j = ops[i].rule.operands.size(); j < ops[i].tensors.size();
           ++j)
        tensors[ops[i].tensors[j]].neighbours.push_back(i);
    for (size_t i = ops.size(); i-- > 0;)
      for (size_t j = 0; j < ops[i].rule.operands.size(); ++j)
        tensors[ops[i].tensors[j]].neighbours.push_back(i);
    return *this;
  }
  AxisList axes(int32_t tensor, int64_t dim) const {
    return tensors[tensor].sharding.dims[dim].axes;
  }
};

TEST(Sweep, GoesBothWaysThroughAChain) {
  Graph graph;
  int32_t a = graph.tensor(), b = graph.tensor({open({x}), open()}),
          c = graph.tensor();
  graph.elementwise({a, b});
  graph.elementwise({b, c});
  propagate(graph.connect(), PropagationStrategy::Basic);
  EXPECT_EQ(graph.axes(a, 0), AxisList{x});
  EXPECT_EQ(graph.axes(c, 0), AxisList{x});
}

TEST(Sweep, MeshesDoNotMix) {
  Graph graph;
  int32_t a = graph.tensor({open({x}), open()}), b = graph.tensor(),
          c = graph.tensor();
  graph.tensors[b].mesh = 1;
  graph.elementwise({a, b, c});
  propagate(graph.connect(), PropagationStrategy::Aggressive);
  EXPECT_TRUE(graph.axes(c, 0).empty());
  graph.tensors[b].mesh = kNone;
  propagate(graph, PropagationStrategy::Aggressive);
  EXPECT_EQ(graph.axes(c, 0), AxisList{x});
  EXPECT_EQ(graph.tensors[b].mesh, 0);
}

TEST(Sweep, GroupMembersMirrorEachOther) {
  Graph graph;
  int32_t a = graph.tensor({open({x}), open()}), b = graph.tensor(),
          member = graph.tensor();
  graph.elementwise({a, b});
  graph.tensors[b].group = graph.tensors[member].group = 0;
  graph.groups.push_back({b, member});
  propagate(graph.connect(), PropagationStrategy::Basic);
  EXPECT_EQ(graph.axes(member, 0), AxisList{x});
}

TEST(Sweep, BlockedFactorsStay) {
  Graph graph;
  int32_t a = graph.tensor({open({x}), open({y})}), b = graph.tensor();
  graph.elementwise({a, b}).rule.factors[0].blocked = true;
  propagate(graph.connect(), PropagationStrategy::Basic);
  EXPECT_TRUE(graph.axes(b, 0).empty());
  EXPECT_EQ(graph.axes(b, 1), AxisList{y});
}

TEST(Sweep, BarriersAllowOneDirection) {
  Graph graph;
  int32_t a = graph.tensor(), b = graph.tensor({open({x}), open()}),
          c = graph.tensor();
  graph.elementwise({a, b}).allowed = Direction::Forward;
  graph.elementwise({b, c}).allowed = Direction::Forward;
  propagate(graph.connect(), PropagationStrategy::Basic);
  EXPECT_TRUE(graph.axes(a, 0).empty());
  EXPECT_EQ(graph.axes(c, 0), AxisList{x});
}

/// lhs . rhs = d, d + bias = e: the dot offers x for dim 0 of d, the addition
/// for dim 1.
struct DotAndBias : Graph {
  int32_t lhs = tensor({closed({x}), closed()}), rhs = tensor(),
          bias = tensor({closed(), closed({x})}), d = tensor(), e = tensor();
  DotAndBias() {
    dot(lhs, rhs, d);
    elementwise({d, bias, e}).onlyUser = true;
    connect();
  }
};

TEST(OpPriority, ElementwiseBeforeDot) {
  DotAndBias inOrder, ladder;
  propagate(inOrder, PropagationStrategy::Aggressive);
  EXPECT_EQ(inOrder.axes(inOrder.d, 0), AxisList{x});
  propagateByOpPriority(ladder, PropagationStrategy::Aggressive);
  EXPECT_EQ(ladder.axes(ladder.d, 1), AxisList{x});
}

TEST(OpPriority, BroadcastForwardLast) {
  for (bool other : {false, true}) {
    Graph graph;
    int32_t small = graph.tensor({open({x}), open()}), big = graph.tensor(),
            from = graph.tensor({open(), other ? open({x}) : open()});
    graph.op(identityRule({8, 8}), {small, big}).propagationClass =
        PropagationClass::BroadcastBackward;
    graph.op(identityRule({8, 8}), {from, big});
    propagateByOpPriority(graph.connect(), PropagationStrategy::Aggressive);
    EXPECT_EQ(graph.axes(big, other ? 1 : 0), AxisList{x});
  }
}

TEST(UserPriority, LaterDimsWait) {
  Graph graph;
  int32_t a = graph.tensor({closed({x}, 1), closed()}),
          b = graph.tensor({closed(), closed({x})}), c = graph.tensor();
  graph.elementwise({a, b, c});
  propagateByUserPriority(graph.connect(), PropagationStrategy::Aggressive,
                          /*byOpPriority=*/true);
  EXPECT_EQ(graph.axes(c, 1), AxisList{x});
  EXPECT_EQ(graph.tensors[a].sharding.dims[0], closed({x}));
}

TEST(UserPriority, NobodyTakesTheAxesOfAWaitingDim) {
  Graph graph;
  int32_t a = graph.tensor({open({x}, 1), open()}),
          b = graph.tensor({closed(), closed({x})});
  graph.elementwise({a, b});
  propagateByUserPriority(graph.connect(), PropagationStrategy::Aggressive,
                          /*byOpPriority=*/false);
  EXPECT_EQ(graph.axes(a, 0), AxisList{x});
  EXPECT_TRUE(graph.axes(a, 1).empty());
  EXPECT_TRUE(graph.tensors[a].sharding.replicated.empty());
}

/// The parked parts of an axis merge, and come back one by one.
TEST(UserPriority, SubAxesOfOneAxisInTwoRounds) {
  constexpr AxisRef major{0, 1, 2}, minor{0, 2, 2};
  Graph graph;
  int32_t a = graph.tensor({closed({minor}, 2), closed({major}, 1)}),
          b = graph.tensor();
  graph.elementwise({a, b});
  propagateByUserPriority(graph.connect(), PropagationStrategy::Basic, false);
  EXPECT_EQ(graph.axes(b, 0), AxisList{minor});
  EXPECT_EQ(graph.axes(b, 1), AxisList{major});
  EXPECT_TRUE(graph.tensors[a].sharding.replicated.empty());
}

} // namespace
