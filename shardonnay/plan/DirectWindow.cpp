//===- DirectWindow.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/DirectWindow.h"
#include "shardonnay/algebra/Counts.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace shardonnay {

/// Calls `take(shard, count)` for the positions of window `window` in each
/// shard, period by period.
static void forEachRun(const WindowProblem &problem, int64_t window,
                       function_ref<void(int64_t, int64_t)> take) {
  auto [from, to] = problem.inside(window);
  while (from < to) {
    int64_t period = divideFloorSigned(from, problem.globalSize),
            position = from - period * problem.globalSize,
            shard = position / problem.localSize,
            limit =
                std::min((shard + 1) * problem.localSize, problem.globalSize) +
                period * problem.globalSize;
    limit = std::min(limit, to);
    take(shard, limit - from);
    from = limit;
  }
}

/// Calls `take(sender, count)`, a device of the mesh, for each message.
static void forEachMessage(const WindowProblem &problem,
                           function_ref<void(int64_t, int64_t)> take) {
  if (problem.axes.empty() || problem.globalSize == 0)
    return;
  for (const auto &group : problem.mesh.groups(problem.axes))
    for (int64_t receiver = 0, size = group.size(); receiver < size; ++receiver)
      forEachRun(problem,
                 problem.mesh.index(problem.windowAxes, group[receiver]),
                 [&](int64_t shard, int64_t count) {
                   if (shard != receiver)
                     take(group[shard], count);
                 });
}

std::vector<int64_t> positionsSent(const WindowProblem &problem) {
  std::vector<int64_t> sent(problem.mesh.numDevices());
  forEachMessage(problem,
                 [&](int64_t sender, int64_t count) { sent[sender] += count; });
  return sent;
}

std::optional<LocalCollective> directWindow(const WindowProblem &problem,
                                            int64_t sliceBytes) {
  std::vector<int64_t> sent(problem.mesh.numDevices()), numSent(sent.size());
  forEachMessage(problem, [&](int64_t sender, int64_t count) {
    sent[sender] += count;
    ++numSent[sender];
  });
  int64_t most = *max_element(sent), messages = *max_element(numSent);
  if (most == 0)
    return std::nullopt;
  LocalCollective collective;
  collective.kind = CollectiveKind::Permute;
  collective.axes = problem.axes;
  collective.count = messages;
  // All at once.
  collective.cost = {
      countProduct(most, sliceBytes),
      collectiveCost(CollectiveKind::Permute, problem.axes.numShards(), 1)
          .steps};
  return collective;
}

} // namespace shardonnay
