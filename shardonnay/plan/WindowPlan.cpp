//===- WindowPlan.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is determined by which shard counts as the first of each window (see
// `FirstShard`). All ways to count are tried, and the gather.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/WindowPlan.h"

#include "shardonnay/algebra/Counts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <optional>
#include <set>

namespace shardonnay {

Interval WindowProblem::inside(int64_t window) const {
  if (periodic)
    return {windowStart(window), windowStart(window) + size};
  int64_t from = std::max<int64_t>(windowStart(window), 0);
  int64_t to = std::min(windowStart(window) + size, globalSize);
  return from < to ? Interval{from, to} : Interval{};
}

bool WindowProblem::isEmpty() const {
  return llvm::all_of(llvm::seq<int64_t>(0, windowAxes.numShards()),
                      [&](int64_t window) { return inside(window).empty(); });
}

bool WindowProblem::leavesLow() const {
  return !periodic &&
         std::min(start, windowStart(windowAxes.numShards() - 1)) < 0;
}

bool WindowProblem::leavesHigh() const {
  return !periodic &&
         std::max(start, windowStart(windowAxes.numShards() - 1)) + size >
             globalSize;
}

llvm::SmallVector<WindowProblem, 1>
withoutUnevenPeriods(const WindowProblem &problem) {
  if (!problem.periodic ||
      problem.localSize * problem.axes.numShards() == problem.globalSize)
    return {problem};
  int64_t last = problem.windowStart(problem.windowAxes.numShards() - 1);
  int64_t from = std::min(problem.start, last);
  int64_t to = std::max(problem.start, last) + problem.size - 1;
  llvm::SmallVector<WindowProblem, 1> parts;
  for (int64_t period = llvm::divideFloorSigned(from, problem.globalSize);
       period <= llvm::divideFloorSigned(to, problem.globalSize); ++period) {
    WindowProblem &part = parts.emplace_back(problem);
    part.periodic = false;
    part.start -= period * problem.globalSize;
  }
  return parts;
}

/// The mesh with one device along every axis that neither list has a part of:
/// devices that differ along these alone have the same windows.
static Mesh meshAlong(const WindowProblem &problem) {
  llvm::SmallVector<int64_t> sizes(problem.mesh.axisSizes());
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    AxisRef full = problem.mesh.fullAxis(axis);
    if (!problem.axes.excludes(full) && !problem.windowAxes.excludes(full))
      size = 1;
  }
  return Mesh(sizes);
}

WindowProblem withoutNames(const WindowProblem &problem) {
  WindowProblem unnamed = problem;
  AxisList both = problem.axes.commonPrefix(problem.windowAxes);
  AxisList shards = problem.axes.dropPrefix(both);
  AxisList windows = problem.windowAxes.dropPrefix(both);
  if (shards.excludes(windows)) {
    unnamed.mesh = meshAlong(problem);
    return unnamed;
  }
  unnamed.mesh =
      Mesh({both.numShards(), shards.numShards(), windows.numShards()});
  auto take = [&](std::initializer_list<int64_t> axes) {
    AxisList list;
    for (int64_t axis : axes)
      if (unnamed.mesh.axisSize(axis) > 1)
        list.append(unnamed.mesh.fullAxis(axis));
    return list;
  };
  unnamed.axes = take({0, 1});
  unnamed.windowAxes = take({0, 2});
  return unnamed;
}

namespace {

/// Which shard counts as a window's first.
enum class FirstShard {
  /// That of the window's beginning, as if the dim had no ends: the shards of
  /// all devices are alike.
  OfWindow,
  /// That of the first position that exists: nothing is sent that is not
  /// needed.
  OfInside,
  /// The one that is as far through the shards as the window is through the
  /// windows. Where shards and windows are of different sizes, what a device
  /// has itself is then one piece, and what comes from a neighbour another.
  AsFar
};

class Planner {
public:
  Planner(const WindowProblem &problem, FirstShard counted)
      : problem(problem), offsets(problem.axes.numShards()),
        windowAt(problem.mesh.indices(problem.windowAxes)) {
    findShards();
    findWindows(counted);
    makePieces();
  }

  /// What the plan costs, without who sends to whom. Nothing if it is not less
  /// than `limit`, or if windows that begin far outside of the dim need shards
  /// that are far apart: counted from what exists they don't.
  std::optional<WindowCost> cost(WindowCost limit) const;
  /// Requires that it has a cost.
  WindowPlan run() const;

private:
  struct Window {
    Interval inside;
    int64_t firstShard = 0;
    /// The pieces that the window has parts of.
    Interval pieces;
  };

  void findShards();
  void findWindows(FirstShard counted);
  /// Numbers pieces from the first that a window has a part of; none if there
  /// are too many that no window needs.
  void makePieces();
  /// What `window` needs of its piece `piece`, in the sender's dim.
  Interval needed(const Window &window, int64_t piece) const;
  int64_t mostNeeded(int64_t k) const;
  /// Calls `act` with each device that has something for piece `k` of another,
  /// or of itself, and with that one.
  void forEachTransfer(int64_t k,
                       llvm::function_ref<void(int64_t, int64_t)> act) const;
  int64_t numRounds(int64_t k) const;
  /// The parts of the senders' dims.
  void findParts(WindowPlan &plan) const;
  void findTransfers(WindowPiece &piece, int64_t k) const;
  /// Has a piece that is sent hold no more than one window needs of it. A
  /// window that needs a shard's beginning or its end gets it from or to there,
  /// so that pieces still fit.
  void narrow(WindowPiece &piece, int64_t k) const;
  void findOffsets(WindowPlan &plan) const;

  const WindowProblem &problem;
  /// How far the device of each shard is behind that of the first shard.
  std::vector<int64_t> offsets;
  /// Who has the first shard.
  std::vector<int64_t> firsts;
  /// Which window each device has.
  std::vector<int64_t> windowAt;
  std::vector<Window> windows;
  /// How many pieces there are.
  int64_t end = 0;
};

void Planner::findShards() {
  const Mesh &mesh = problem.mesh;
  std::vector<int64_t> shards = mesh.indices(problem.axes);
  AxisList others = mesh.allAxes().subtract(problem.axes);
  for (auto [position, group] : llvm::enumerate(mesh.indices(others))) {
    if (group == 0)
      offsets[shards[position]] = static_cast<int64_t>(position);
    if (shards[position] == 0)
      firsts.push_back(static_cast<int64_t>(position));
  }
}

void Planner::findWindows(FirstShard counted) {
  auto shardOf = [&](int64_t position) {
    return llvm::divideFloorSigned(position, problem.localSize);
  };
  auto firstOf = [&](int64_t w, Interval inside) {
    switch (counted) {
    case FirstShard::OfWindow:
      return shardOf(problem.windowStart(w));
    case FirstShard::OfInside:
      return shardOf(inside.start);
    case FirstShard::AsFar:
      return w * problem.axes.numShards() / problem.windowAxes.numShards();
    }
    llvm_unreachable("all ways to count are handled");
  };
  windows.resize(problem.windowAxes.numShards());
  for (auto [w, window] : llvm::enumerate(windows)) {
    auto number = static_cast<int64_t>(w);
    Interval inside = problem.inside(number);
    window.inside = inside;
    window.firstShard = firstOf(number, inside);
    if (!inside.empty())
      window.pieces = {shardOf(inside.start) - window.firstShard,
                       shardOf(inside.limit - 1) - window.firstShard + 1};
  }
}

void Planner::makePieces() {
  constexpr int64_t kFewPieces = 64;
  int64_t begin = std::numeric_limits<int64_t>::max();
  int64_t limit = std::numeric_limits<int64_t>::min();
  for (const Window &window : windows)
    if (!window.pieces.empty()) {
      begin = std::min(begin, window.pieces.start);
      limit = std::max(limit, window.pieces.limit);
    }
  if (limit - begin > kFewPieces) {
    std::set<int64_t> used;
    for (const Window &window : windows)
      for (int64_t k = window.pieces.start; k < window.pieces.limit; ++k)
        used.insert(k);
    if (limit - begin > kFewPieces + 2 * static_cast<int64_t>(used.size()))
      return;
  }
  for (Window &window : windows) {
    window.firstShard += begin;
    if (!window.pieces.empty())
      window.pieces = {window.pieces.start - begin,
                       window.pieces.limit - begin};
  }
  end = limit - begin;
}

Interval Planner::needed(const Window &window, int64_t piece) const {
  int64_t origin = (window.firstShard + piece) * problem.localSize;
  int64_t from = std::max(window.inside.start - origin, int64_t(0));
  int64_t to = std::min(window.inside.limit - origin, problem.localSize);
  return from < to ? Interval{from, to} : Interval{};
}

int64_t Planner::mostNeeded(int64_t k) const {
  int64_t most = 0;
  for (const Window &window : windows) {
    Interval part = needed(window, k);
    most = std::max(most, part.limit - part.start);
  }
  return most;
}

void Planner::forEachTransfer(
    int64_t k, llvm::function_ref<void(int64_t, int64_t)> act) const {
  auto numShards = static_cast<int64_t>(offsets.size());
  for (int64_t first : firsts)
    for (int64_t offset : offsets) {
      const Window &window = windows[windowAt[first + offset]];
      if (k >= window.pieces.start && k < window.pieces.limit)
        act(first + offsets[llvm::mod(window.firstShard + k, numShards)],
            first + offset);
    }
}

/// In each round a device sends once: there are as many as the busiest has to
/// send.
int64_t Planner::numRounds(int64_t k) const {
  std::vector<int32_t> sent(windowAt.size());
  int32_t most = 0;
  forEachTransfer(k, [&](int64_t source, int64_t target) {
    if (source != target)
      most = std::max(most, ++sent[source]);
  });
  return most;
}

std::optional<WindowCost> Planner::cost(WindowCost limit) const {
  if (end == 0)
    return std::nullopt;
  WindowCost cost;
  for (int64_t k = 0; k < end; ++k) {
    int64_t rounds = numRounds(k);
    cost.received =
        countSum(cost.received, countProduct(rounds, mostNeeded(k)));
    cost.collectives += rounds;
    if (!(cost < limit))
      return std::nullopt;
  }
  return cost;
}

void Planner::findParts(WindowPlan &plan) const {
  plan.pieces.resize(end);
  for (const Window &window : windows)
    for (int64_t k = window.pieces.start; k < window.pieces.limit; ++k) {
      Interval part = needed(window, k), &hull = plan.pieces[k].part;
      hull = hull.empty() ? part
                          : Interval{std::min(hull.start, part.start),
                                     std::max(hull.limit, part.limit)};
    }
}

void Planner::findTransfers(WindowPiece &piece, int64_t k) const {
  std::vector<int32_t> sent(windowAt.size());
  forEachTransfer(k, [&](int64_t source, int64_t target) {
    if (source == target) {
      piece.own = true;
      return;
    }
    // The first round in which the sender is free.
    size_t round = sent[source]++;
    if (round == piece.rounds.size())
      piece.rounds.emplace_back();
    piece.rounds[round].push_back({source, target});
  });
}

void Planner::narrow(WindowPiece &piece, int64_t k) const {
  piece.width = piece.part.limit - piece.part.start;
  int64_t most = mostNeeded(k);
  if (piece.rounds.empty() || most == piece.width)
    return;
  piece.width = most;
  for (const Window &window : windows)
    piece.starts.push_back(
        std::min(needed(window, k).start, problem.localSize - most));
}

void Planner::findOffsets(WindowPlan &plan) const {
  int64_t total = 0;
  llvm::SmallVector<int64_t> begins;
  for (const WindowPiece &piece : plan.pieces) {
    begins.push_back(total);
    total += piece.width;
  }
  int64_t least = 0, most = total;
  for (auto [w, window] : llvm::enumerate(windows)) {
    int64_t &offset = plan.offsets.emplace_back(0);
    if (window.inside.empty())
      continue;
    int64_t k = window.pieces.start;
    const WindowPiece &piece = plan.pieces[k];
    int64_t begin = piece.starts.empty() ? piece.part.start : piece.starts[w];
    offset = begins[k] + needed(window, k).start - begin -
             (window.inside.start - problem.windowStart(w));
    least = std::min(least, offset);
    most = std::max(most, offset + problem.size);
  }
  plan.low = -least;
  // A window that has nothing begins anywhere, but is in the buffer.
  plan.high = std::max(most, problem.size - plan.low) - total;
  for (auto [window, offset] : llvm::zip_equal(windows, plan.offsets))
    if (!window.inside.empty())
      offset += plan.low;
}

WindowPlan Planner::run() const {
  WindowPlan plan;
  findParts(plan);
  for (auto [k, piece] : llvm::enumerate(plan.pieces)) {
    findTransfers(piece, static_cast<int64_t>(k));
    narrow(piece, static_cast<int64_t>(k));
  }
  findOffsets(plan);
  return plan;
}

/// On the gathered tensor, which is one shard.
WindowPlan planGathered(const WindowProblem &problem) {
  WindowProblem whole = problem;
  whole.localSize = countProduct(problem.localSize, problem.axes.numShards());
  whole.axes = AxisList();
  WindowPlan plan = Planner(whole, FirstShard::OfInside).run();
  plan.gathers = !problem.axes.empty();
  return plan;
}

/// Of a tensor that each device has whole, and that some windows leave: of its
/// size a window takes what exists near it, and pads that alone.
WindowPlan planOfWhole(const WindowProblem &problem) {
  WindowPlan plan;
  WindowPiece &piece = plan.pieces.emplace_back();
  piece.part = {0, problem.localSize};
  piece.width = std::min(problem.size, problem.localSize);
  piece.own = true;
  for (int64_t w = 0; w < problem.windowAxes.numShards(); ++w) {
    int64_t start = problem.inside(w).empty() ? 0 : problem.windowStart(w);
    int64_t taken =
        std::clamp<int64_t>(start, 0, problem.localSize - piece.width);
    piece.starts.push_back(taken);
    plan.offsets.push_back(start - taken);
    plan.low = std::max(plan.low, taken - start);
    plan.high = std::max(plan.high, start + problem.size - taken - piece.width);
  }
  for (int64_t &offset : plan.offsets)
    offset += plan.low;
  return plan;
}

/// Some plan may be another than those that are tried before it.
bool mayHelp(FirstShard counted, const WindowProblem &problem) {
  switch (counted) {
  case FirstShard::OfWindow:
    return true;
  case FirstShard::OfInside:
    // Else windows begin where what exists of them does.
    return problem.leavesLow();
  case FirstShard::AsFar:
    // Else shards and windows are as far apart everywhere.
    return problem.step != problem.localSize ||
           problem.axes.numShards() != problem.windowAxes.numShards();
  }
  llvm_unreachable("all ways to count are handled");
}

/// The best plan's cost, and in `best` what its planner counts by, unless it
/// gathers.
WindowCost findBest(const WindowProblem &problem,
                    std::optional<FirstShard> &best) {
  if (problem.axes.empty())
    return {};
  WindowCost least = {
      countProduct(problem.localSize, problem.axes.numShards() - 1), 1, true};
  for (FirstShard counted :
       {FirstShard::OfWindow, FirstShard::OfInside, FirstShard::AsFar}) {
    if (least.received == 0 || !mayHelp(counted, problem))
      continue;
    Planner planner(problem, counted);
    if (std::optional<WindowCost> cost = planner.cost(least)) {
      least = *cost;
      best = counted;
    }
  }
  return least;
}

} // namespace

WindowCost costOfWindows(const WindowProblem &problem) {
  std::optional<FirstShard> best;
  return problem.isEmpty() ? WindowCost() : findBest(problem, best);
}

WindowPlan planWindows(const WindowProblem &problem) {
  if (problem.isEmpty())
    return {};
  if (problem.axes.empty() && problem.windowAxes.numShards() > 1 &&
      !problem.periodic && (problem.leavesLow() || problem.leavesHigh()))
    return planOfWhole(problem);
  // On few devices it is soon seen which plan is the best.
  std::optional<FirstShard> best;
  findBest(withoutNames(problem), best);
  return best ? Planner(problem, *best).run() : planGathered(problem);
}

} // namespace shardonnay
