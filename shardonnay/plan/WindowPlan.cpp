//===- WindowPlan.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is determined by which shard counts as the first of each window:
// counting by what exists sends nothing that is not needed; counting as if the
// dim had no ends keeps the shards of all devices alike. Both are tried, and
// the gather.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/WindowPlan.h"

#include "shardonnay/algebra/Counts.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <optional>

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

int64_t WindowPlan::received(const WindowProblem &problem) const {
  if (gathers)
    return countProduct(problem.localSize, problem.axes.numShards() - 1);
  int64_t sum = 0;
  for (const WindowPiece &piece : pieces)
    sum = countSum(sum, countProduct(static_cast<int64_t>(piece.rounds.size()),
                                     piece.width));
  return sum;
}

int64_t WindowPlan::numCollectives() const {
  int64_t count = gathers;
  for (const WindowPiece &piece : pieces)
    count += piece.rounds.size();
  return count;
}

namespace {

class Planner {
public:
  Planner(const WindowProblem &problem, bool countsWhatExists)
      : problem(problem), numWindows(problem.windowAxes.numShards()) {
    findFirstShards(countsWhatExists);
  }

  /// Nothing if windows that begin far outside of the dim need shards that are
  /// far apart: counted from what exists they don't.
  std::optional<WindowPlan> run() {
    if (!makePieces())
      return std::nullopt;
    findTransfers();
    for (auto [k, piece] : llvm::enumerate(plan.pieces))
      narrow(piece, k);
    findOffsets();
    return std::move(plan);
  }

private:
  void findFirstShards(bool countsWhatExists);
  /// The parts of the senders' dims, without pieces that nobody needs at the
  /// ends; false if there are too many between.
  bool makePieces();
  void findTransfers();
  /// Has a piece that is sent hold no more than one window needs of it. A
  /// window that needs a shard's beginning or its end gets it from or to there,
  /// so that pieces still fit.
  void narrow(WindowPiece &piece, int64_t k);
  void findOffsets();
  /// What window `window` needs of its piece `piece`, in the sender's dim.
  Interval needed(int64_t window, int64_t piece) const;

  const WindowProblem &problem;
  int64_t numWindows;
  llvm::SmallVector<int64_t, 0> firstShard;
  WindowPlan plan;
};

void Planner::findFirstShards(bool countsWhatExists) {
  for (int64_t w = 0; w < numWindows; ++w) {
    int64_t from = problem.windowStart(w);
    if (countsWhatExists)
      from = problem.inside(w).start;
    firstShard.push_back(llvm::divideFloorSigned(from, problem.localSize));
  }
}

Interval Planner::needed(int64_t window, int64_t piece) const {
  Interval inside = problem.inside(window);
  int64_t origin = (firstShard[window] + piece) * problem.localSize;
  int64_t from = std::max(inside.start - origin, int64_t(0));
  int64_t to = std::min(inside.limit - origin, problem.localSize);
  return from < to ? Interval{from, to} : Interval{};
}

bool Planner::makePieces() {
  std::map<int64_t, Interval> hulls;
  for (int64_t w = 0; w < numWindows; ++w) {
    Interval inside = problem.inside(w);
    if (inside.empty())
      continue;
    int64_t from = llvm::divideFloorSigned(inside.start, problem.localSize) -
                   firstShard[w];
    int64_t to = llvm::divideFloorSigned(inside.limit - 1, problem.localSize) -
                 firstShard[w];
    for (int64_t k = from; k <= to; ++k) {
      Interval part = needed(w, k);
      Interval &hull = hulls[k];
      hull = hull.empty() ? part
                          : Interval{std::min(hull.start, part.start),
                                     std::max(hull.limit, part.limit)};
    }
  }
  int64_t begin = hulls.begin()->first, end = hulls.rbegin()->first + 1;
  constexpr int64_t kFewPieces = 64;
  if (end - begin > kFewPieces + 2 * static_cast<int64_t>(hulls.size()))
    return false;
  for (int64_t &first : firstShard)
    first += begin;
  for (int64_t k = begin; k < end; ++k)
    plan.pieces.emplace_back().part = hulls[k];
  return true;
}

void Planner::narrow(WindowPiece &piece, int64_t k) {
  piece.width = piece.part.limit - piece.part.start;
  int64_t most = 0;
  for (int64_t w = 0; w < numWindows; ++w) {
    Interval part = needed(w, k);
    most = std::max(most, part.limit - part.start);
  }
  if (piece.rounds.empty() || most == piece.width)
    return;
  piece.width = most;
  for (int64_t w = 0; w < numWindows; ++w)
    piece.starts.push_back(
        std::min(needed(w, k).start, problem.localSize - most));
}

void Planner::findOffsets() {
  int64_t total = 0;
  llvm::SmallVector<int64_t> begins;
  for (const WindowPiece &piece : plan.pieces) {
    begins.push_back(total);
    total += piece.width;
  }
  int64_t least = 0, most = total;
  for (int64_t w = 0; w < numWindows; ++w) {
    Interval inside = problem.inside(w);
    int64_t &offset = plan.offsets.emplace_back(0);
    if (inside.empty())
      continue;
    int64_t k = llvm::divideFloorSigned(inside.start, problem.localSize) -
                firstShard[w];
    const WindowPiece &piece = plan.pieces[k];
    int64_t begin = piece.starts.empty() ? piece.part.start : piece.starts[w];
    offset = begins[k] + needed(w, k).start - begin -
             (inside.start - problem.windowStart(w));
    least = std::min(least, offset);
    most = std::max(most, offset + problem.size);
  }
  plan.low = -least;
  // A window that has nothing begins anywhere, but is in the buffer.
  plan.high = std::max(most, problem.size - plan.low) - total;
  for (auto [w, offset] : llvm::enumerate(plan.offsets))
    if (!problem.inside(w).empty())
      offset += plan.low;
}

/// The rounds of one piece as they fill.
class Rounds {
public:
  Rounds(WindowPiece &piece, int64_t numDevices)
      : piece(piece), numDevices(numDevices) {}

  /// Into the first round in which the sender is free.
  void add(int64_t source, int64_t target) {
    size_t round = 0;
    while (round < busy.size() && busy[round][source])
      ++round;
    if (round == busy.size()) {
      busy.emplace_back(numDevices);
      piece.rounds.emplace_back();
    }
    busy[round].set(source);
    piece.rounds[round].push_back({source, target});
  }

private:
  WindowPiece &piece;
  int64_t numDevices;
  /// By round: who sends.
  llvm::SmallVector<llvm::BitVector, 1> busy;
};

void Planner::findTransfers() {
  const Mesh &mesh = problem.mesh;
  auto groups = mesh.groups(problem.axes);
  std::vector<int64_t> windows = mesh.indices(problem.windowAxes);
  for (auto [k, piece] : llvm::enumerate(plan.pieces)) {
    Rounds rounds(piece, mesh.numDevices());
    for (llvm::ArrayRef<int64_t> group : groups)
      for (int64_t target : group) {
        int64_t window = windows[target];
        if (needed(window, k).empty())
          continue;
        int64_t source =
            group[llvm::mod(firstShard[window] + static_cast<int64_t>(k),
                            static_cast<int64_t>(group.size()))];
        if (source == target)
          piece.own = true;
        else
          rounds.add(source, target);
      }
  }
}

/// On the gathered tensor, which is one shard.
WindowPlan planGathered(const WindowProblem &problem) {
  WindowProblem whole = problem;
  whole.localSize = countProduct(problem.localSize, problem.axes.numShards());
  whole.axes = AxisList();
  WindowPlan plan = *Planner(whole, /*countsWhatExists=*/true).run();
  plan.gathers = !problem.axes.empty();
  return plan;
}

} // namespace

WindowPlan planWindows(const WindowProblem &problem) {
  if (problem.isEmpty())
    return {};
  auto price = [&](const WindowPlan &plan) {
    return std::make_pair(plan.received(problem), plan.numCollectives());
  };
  WindowPlan best = planGathered(problem);
  if (!best.gathers)
    return best;
  for (bool countsWhatExists : {false, true}) {
    std::optional<WindowPlan> plan = Planner(problem, countsWhatExists).run();
    if (plan && price(*plan) < price(best))
      best = std::move(*plan);
  }
  return best;
}

} // namespace shardonnay
