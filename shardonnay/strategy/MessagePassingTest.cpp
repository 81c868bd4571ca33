//===- MessagePassingTest.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/MessagePassing.h"
#include <gtest/gtest.h>
#include <random>

using namespace shardonnay;

namespace {

class RandomGraph {
public:
  explicit RandomGraph(unsigned seed) : random(seed) {}

  CostGraph variables(size_t count) {
    CostGraph graph;
    for (size_t v = 0; v < count; ++v)
      graph.own.push_back(costs(1 + random() % 3));
    return graph;
  }
  void connect(CostGraph &graph, int32_t a, int32_t b) {
    graph.edges.push_back(
        {a, b, costs(graph.own[a].size() * graph.own[b].size())});
  }
  unsigned operator()() { return random(); }

private:
  std::vector<double> costs(size_t count) {
    std::vector<double> result;
    for (size_t i = 0; i < count; ++i)
      result.push_back(random() % 2 ? 0 : random() % 20);
    return result;
  }

  std::mt19937 random;
};

double cheapest(const CostGraph &graph) {
  std::vector<int32_t> selected(graph.own.size());
  double best = graph.costOf(selected);
  while (true) {
    size_t v = 0;
    while (v < selected.size() &&
           ++selected[v] == static_cast<int32_t>(graph.own[v].size()))
      selected[v++] = 0;
    if (v == selected.size())
      return best;
    best = std::min(best, graph.costOf(selected));
  }
}

std::vector<int32_t> zeros(const CostGraph &graph) {
  return std::vector<int32_t>(graph.own.size());
}

TEST(CostGraphSolution, workedExample) {
  CostGraph graph;
  graph.own = {{0, 5}, {0, 0}, {kForbiddenCost, 0}};
  graph.edges = {{0, 1, {0, 3, 3, 0}}, {1, 2, {0, 3, 3, 0}}};
  CostGraphSolution selection = passMessages(graph, {1, 1, 1});
  EXPECT_EQ(selection.cost, 3);
  EXPECT_EQ(selection.bound, 3);
  EXPECT_EQ(selection.selected[0], 0);
  EXPECT_EQ(selection.selected[2], 1);
}

TEST(CostGraphSolution, nothingToChoose) {
  CostGraphSolution selection = passMessages({}, {});
  EXPECT_EQ(selection.cost, 0);
  EXPECT_TRUE(selection.selected.empty());
}

TEST(CostGraphSolution, theStartStaysWhereNothingIsCheaper) {
  CostGraph graph;
  graph.own = {{1, 1}, {1, 1}};
  graph.edges = {{0, 1, {0, 0, 0, 0}}};
  EXPECT_EQ(passMessages(graph, {1, 0}).selected, (std::vector<int32_t>{1, 0}));
}

TEST(CostGraphSolution, treesAndRingsAreExact) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomGraph random(seed);
    CostGraph graph = random.variables(2 + seed % 8);
    int32_t count = graph.own.size();
    for (int32_t v = 1; v < count; ++v)
      random.connect(graph, random() % v, v);
    // Every third is a ring of its first and last, every other has two edges
    // between two.
    if (seed % 3 == 0 && count > 2)
      random.connect(graph, 0, 1);
    CostGraphSolution selection = passMessages(graph, zeros(graph));
    EXPECT_EQ(selection.cost, cheapest(graph)) << seed;
    EXPECT_EQ(selection.cost, graph.costOf(selection.selected)) << seed;
    EXPECT_EQ(selection.bound, selection.cost) << seed;
  }
}

TEST(CostGraphSolution, theGapOfAnyGraphIsTrue) {
  int exact = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomGraph random(seed);
    CostGraph graph = random.variables(4 + seed % 6);
    int32_t count = graph.own.size();
    for (int32_t a = 0; a < count; ++a)
      for (int32_t b = a + 1; b < count; ++b)
        if (random() % 4)
          random.connect(graph, a, b);
    CostGraphSolution selection = passMessages(graph, zeros(graph));
    double best = cheapest(graph);
    EXPECT_LE(selection.bound, best + 1e-6) << seed;
    EXPECT_GE(selection.cost, best - 1e-6) << seed;
    EXPECT_LE(selection.cost, graph.costOf(zeros(graph))) << seed;
    EXPECT_EQ(selection.cost, graph.costOf(selection.selected)) << seed;
    exact += selection.cost <= best + 1e-6;
  }
  // Of dense graphs most.
  EXPECT_GT(exact, 300);
}

} // namespace
