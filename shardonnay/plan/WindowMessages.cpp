//===- WindowMessages.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/WindowMessages.h"
#include "shardonnay/algebra/Counts.h"

using namespace llvm;

namespace shardonnay {

static std::vector<int64_t> gatherOf(const AxisList &axes) {
  std::vector<int64_t> message = {/*gathers=*/1};
  for (AxisRef axis : axes)
    message.insert(message.end(), {axis.axis, axis.pre, axis.size});
  return message;
}

static std::vector<int64_t> roundOf(const WindowPiece &piece,
                                    ArrayRef<Transfer> round) {
  std::vector<int64_t> message = {/*gathers=*/0, piece.part.start,
                                  piece.part.limit, piece.width,
                                  static_cast<int64_t>(piece.starts.size())};
  message.insert(message.end(), piece.starts.begin(), piece.starts.end());
  for (auto [source, target] : round)
    message.insert(message.end(), {source, target});
  return message;
}

LocalCollective WindowMessages::send(const WindowProblem &problem) {
  LocalCollective before;
  before.count = 0;
  for (const WindowProblem &part : withoutUnevenPeriods(problem)) {
    auto add = [&](Message message, CollectiveKind kind, int64_t received) {
      if (known.insert(std::move(message)).second)
        return;
      ++before.count;
      before.cost.bytes += received;
      before.cost.steps += collectiveCost(kind, part.axes.numShards(), 1).steps;
    };
    WindowPlan plan = planWindows(part);
    if (plan.gathers)
      add(gatherOf(part.axes), CollectiveKind::AllGather,
          (part.axes.numShards() - 1) * part.localSize);
    for (const WindowPiece &piece : plan.pieces)
      for (ArrayRef<Transfer> round : piece.rounds)
        add(roundOf(piece, round), CollectiveKind::Permute, piece.width);
  }
  return before;
}

void WindowMessages::plan() {
  if (unplanned)
    send(*std::exchange(unplanned, std::nullopt));
}

bool WindowMessages::addGather(const AxisList &axes) {
  plan();
  return known.insert(gatherOf(axes)).second;
}

std::optional<LocalCollective> WindowMessages::add(const WindowProblem &problem,
                                                   int64_t sliceBytes) {
  std::optional<LocalCollective> rest = windowCollective(problem, sliceBytes);
  if (!rest)
    return std::nullopt;
  if (!unplanned && known.empty()) {
    unplanned = problem;
    return rest;
  }
  plan();
  LocalCollective before = send(problem);
  rest->count -= before.count;
  rest->cost.bytes -= countProduct(before.cost.bytes, sliceBytes);
  rest->cost.steps -= before.cost.steps;
  return rest->count == 0 ? std::nullopt : rest;
}

} // namespace shardonnay
