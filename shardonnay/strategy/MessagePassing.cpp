//===- MessagePassing.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/strategy/MessagePassing.h"
#include <algorithm>
#include <map>

namespace shardonnay {

double CostGraph::costOf(const std::vector<int32_t> &selected) const {
  double sum = 0;
  for (size_t v = 0; v < own.size(); ++v)
    sum += own[v][selected[v]];
  for (const Edge &edge : edges)
    sum += edge.cost[selected[edge.a] * own[edge.b].size() + selected[edge.b]];
  return sum;
}

namespace {

using Matrix = std::vector<double>;

/// The graph with one edge between two variables, seen from both ends, that
/// elimination and messages change.
class Working {
public:
  explicit Working(const CostGraph &graph);

  size_t numVariables() const { return own.size(); }
  size_t alternatives(int32_t v) const { return own[v].size(); }
  /// The neighbours of `v`, in order.
  std::map<int32_t, int32_t> &neighbours(int32_t v) { return adjacent[v]; }
  double &at(int32_t edge, int32_t v, size_t i, size_t j) {
    return ends[edge].first == v ? costs[edge][i * width(edge) + j]
                                 : costs[edge][j * width(edge) + i];
  }
  /// The edge between `a` and `b`, new with no cost if there is none.
  int32_t edgeBetween(int32_t a, int32_t b);
  void removeVariable(int32_t v) {
    for (auto [other, edge] : adjacent[v]) {
      (void)edge;
      adjacent[other].erase(v);
    }
  }

  std::vector<std::vector<double>> own;

private:
  size_t width(int32_t edge) const { return own[ends[edge].second].size(); }

  std::vector<std::map<int32_t, int32_t>> adjacent;
  std::vector<std::pair<int32_t, int32_t>> ends;
  std::vector<Matrix> costs;
};

Working::Working(const CostGraph &graph)
    : own(graph.own), adjacent(graph.own.size()) {
  for (const CostGraph::Edge &edge : graph.edges) {
    int32_t here = edgeBetween(edge.a, edge.b);
    for (size_t i = 0; i < alternatives(edge.a); ++i)
      for (size_t j = 0; j < alternatives(edge.b); ++j)
        at(here, edge.a, i, j) += edge.cost[i * alternatives(edge.b) + j];
  }
}

int32_t Working::edgeBetween(int32_t a, int32_t b) {
  auto [entry, isNew] = adjacent[a].try_emplace(b, ends.size());
  if (isNew) {
    adjacent[b][a] = ends.size();
    ends.emplace_back(a, b);
    costs.emplace_back(alternatives(a) * alternatives(b), 0.0);
  }
  return entry->second;
}

/// A variable that is gone, and its best answers to what its neighbours choose.
struct Eliminated {
  int32_t variable;
  /// At most two.
  std::vector<int32_t> neighbours;
  /// By alternative of the first, then of the second.
  std::vector<int32_t> answers;
};

class Solver {
public:
  Solver(const CostGraph &graph, const std::vector<int32_t> &start)
      : work(graph), selected(start) {}

  CostGraphSolution run(const CostGraph &graph);

private:
  void eliminateAll();
  void eliminate(int32_t v);
  int32_t answer(int32_t v, const std::vector<int32_t> &others,
                 const std::vector<size_t> &state, double &cost);
  void solveCore();
  void sweep(bool forwards);
  /// Takes the messages of all edges into v's own costs, and shares these out
  /// among the edges to variables not yet visited.
  void passMessages(int32_t v, bool forwards);
  double coreBound();
  double coreCost(const std::vector<int32_t> &selection);
  void round(std::vector<int32_t> &selection);
  void improve(std::vector<int32_t> &selection);
  double costAround(int32_t v, size_t alternative,
                    const std::vector<int32_t> &selection);

  Working work;
  std::vector<int32_t> selected;
  std::vector<Eliminated> eliminated;
  std::vector<int32_t> core;
  double constant = 0;
  double bound = 0;
};

int32_t Solver::answer(int32_t v, const std::vector<int32_t> &others,
                       const std::vector<size_t> &state, double &cost) {
  int32_t best = 0;
  for (size_t i = 0; i < work.alternatives(v); ++i) {
    double sum = work.own[v][i];
    for (size_t n = 0; n < others.size(); ++n)
      sum += work.at(work.neighbours(v)[others[n]], v, i, state[n]);
    if (i == 0 || sum < cost) {
      cost = sum;
      best = i;
    }
  }
  return best;
}

void Solver::eliminate(int32_t v) {
  Eliminated gone{v, {}, {}};
  for (auto [other, edge] : work.neighbours(v)) {
    (void)edge;
    gone.neighbours.push_back(other);
  }
  double cost = 0;
  if (gone.neighbours.empty()) {
    gone.answers.push_back(answer(v, {}, {}, cost));
    constant += cost;
  } else if (gone.neighbours.size() == 1) {
    int32_t a = gone.neighbours[0];
    for (size_t i = 0; i < work.alternatives(a); ++i) {
      gone.answers.push_back(answer(v, gone.neighbours, {i}, cost));
      work.own[a][i] += cost;
    }
  } else {
    int32_t a = gone.neighbours[0], b = gone.neighbours[1];
    int32_t edge = work.edgeBetween(a, b);
    for (size_t i = 0; i < work.alternatives(a); ++i)
      for (size_t j = 0; j < work.alternatives(b); ++j) {
        gone.answers.push_back(answer(v, gone.neighbours, {i, j}, cost));
        work.at(edge, a, i, j) += cost;
      }
  }
  work.removeVariable(v);
  eliminated.push_back(std::move(gone));
}

void Solver::eliminateAll() {
  constexpr size_t kDegree = 2;
  std::vector<int32_t> ready;
  std::vector<bool> gone(work.numVariables());
  for (size_t v = work.numVariables(); v > 0; --v)
    ready.push_back(v - 1);
  while (!ready.empty()) {
    int32_t v = ready.back();
    ready.pop_back();
    if (gone[v] || work.neighbours(v).size() > kDegree)
      continue;
    gone[v] = true;
    eliminate(v);
    for (int32_t other : eliminated.back().neighbours)
      ready.push_back(other);
  }
  for (size_t v = 0; v < gone.size(); ++v)
    if (!gone[v])
      core.push_back(v);
}

double Solver::costAround(int32_t v, size_t alternative,
                          const std::vector<int32_t> &selection) {
  double sum = work.own[v][alternative];
  for (auto [other, edge] : work.neighbours(v))
    sum += work.at(edge, v, alternative, selection[other]);
  return sum;
}

double Solver::coreCost(const std::vector<int32_t> &selection) {
  double sum = 0;
  for (int32_t v : core) {
    sum += work.own[v][selection[v]];
    for (auto [other, edge] : work.neighbours(v))
      if (v < other)
        sum += work.at(edge, v, selection[v], selection[other]);
  }
  return sum;
}

double Solver::coreBound() {
  double sum = 0;
  for (int32_t v : core) {
    sum += *std::min_element(work.own[v].begin(), work.own[v].end());
    for (auto [other, edge] : work.neighbours(v)) {
      if (other < v)
        continue;
      double least = work.at(edge, v, 0, 0);
      for (size_t i = 0; i < work.alternatives(v); ++i)
        for (size_t j = 0; j < work.alternatives(other); ++j)
          least = std::min(least, work.at(edge, v, i, j));
      sum += least;
    }
  }
  return sum;
}

void Solver::passMessages(int32_t v, bool forwards) {
  size_t ahead = 0, behind = 0;
  for (auto [other, edge] : work.neighbours(v)) {
    (forwards == (other > v) ? ahead : behind) += 1;
    for (size_t i = 0; i < work.alternatives(v); ++i) {
      double least = work.at(edge, v, i, 0);
      for (size_t j = 1; j < work.alternatives(other); ++j)
        least = std::min(least, work.at(edge, v, i, j));
      work.own[v][i] += least;
      for (size_t j = 0; j < work.alternatives(other); ++j)
        work.at(edge, v, i, j) -= least;
    }
  }
  double share = 1.0 / std::max(std::max(ahead, behind), size_t{1});
  std::vector<double> total = work.own[v];
  for (auto [other, edge] : work.neighbours(v)) {
    if (forwards != (other > v))
      continue;
    for (size_t i = 0; i < work.alternatives(v); ++i) {
      work.own[v][i] -= share * total[i];
      for (size_t j = 0; j < work.alternatives(other); ++j)
        work.at(edge, v, i, j) += share * total[i];
    }
  }
}

void Solver::sweep(bool forwards) {
  if (forwards)
    for (auto v = core.begin(); v != core.end(); ++v)
      passMessages(*v, true);
  else
    for (auto v = core.rbegin(); v != core.rend(); ++v)
      passMessages(*v, false);
}

/// In order, each variable's best answer to those before it.
void Solver::round(std::vector<int32_t> &selection) {
  for (int32_t v : core) {
    double best = 0;
    for (size_t i = 0; i < work.alternatives(v); ++i) {
      double sum = work.own[v][i];
      for (auto [other, edge] : work.neighbours(v)) {
        if (other < v) {
          sum += work.at(edge, v, i, selection[other]);
          continue;
        }
        double least = work.at(edge, v, i, 0);
        for (size_t j = 1; j < work.alternatives(other); ++j)
          least = std::min(least, work.at(edge, v, i, j));
        sum += least;
      }
      if (i == 0 || sum < best) {
        best = sum;
        selection[v] = i;
      }
    }
  }
}

void Solver::improve(std::vector<int32_t> &selection) {
  bool changed = true;
  for (int rounds = 0; changed && rounds < kMessageSweeps; ++rounds) {
    changed = false;
    for (int32_t v : core) {
      double best = costAround(v, selection[v], selection);
      for (size_t i = 0; i < work.alternatives(v); ++i) {
        double cost = costAround(v, i, selection);
        // Less by more than what messages lose in rounding.
        if (cost < best - 1e-9 * (1 + best)) {
          best = cost;
          selection[v] = i;
          changed = true;
        }
      }
    }
  }
}

void Solver::solveCore() {
  improve(selected);
  bound = coreBound();
  double best = coreCost(selected);
  for (int i = 0; i < kMessageSweeps && bound < best * (1 - 1e-9); ++i) {
    sweep(i % 2 == 0);
    std::vector<int32_t> rounded = selected;
    round(rounded);
    improve(rounded);
    double cost = coreCost(rounded);
    if (cost < best) {
      best = cost;
      selected = rounded;
    }
    bound = std::max(bound, coreBound());
  }
}

CostGraphSolution Solver::run(const CostGraph &graph) {
  std::vector<int32_t> start = selected;
  eliminateAll();
  solveCore();
  for (auto gone = eliminated.rbegin(); gone != eliminated.rend(); ++gone) {
    size_t index = 0;
    for (int32_t other : gone->neighbours)
      index = index * graph.own[other].size() + selected[other];
    selected[gone->variable] = gone->answers[index];
  }
  CostGraphSolution result{selected, graph.costOf(selected), 0};
  double before = graph.costOf(start);
  if (before <= result.cost)
    result = {start, before, 0};
  result.bound =
      core.empty() ? result.cost : std::min(result.cost, bound + constant);
  return result;
}

} // namespace

CostGraphSolution passMessages(const CostGraph &graph,
                               const std::vector<int32_t> &start) {
  return Solver(graph, start).run(graph);
}

} // namespace shardonnay
