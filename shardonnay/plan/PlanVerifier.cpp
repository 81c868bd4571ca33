//===- PlanVerifier.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// verifyPlan: every position holds a box of the padded tensor, and knows which
// summands went into it. A summand is named by the index, along the source's
// partial axes, of the position that it came from.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/ReshardPlan.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

namespace shardonnay {
namespace {

using Box = llvm::SmallVector<Interval, 4>;

struct Held {
  Box box;
  llvm::BitVector summands;
};

class PlanSimulator {
public:
  PlanSimulator(const ReshardProblem &problem, std::string &error);

  bool simulate(const Step &step);
  /// The state is that of `layout` on every position.
  bool matches(const Layout &layout);
  bool reachesTarget();
  Cost cost() const { return spent; }

private:
  using Group = llvm::ArrayRef<int64_t>;

  bool fail(const llvm::Twine &message) {
    error = message.str();
    return false;
  }
  bool checkStep(const Step &step);
  bool simulateGroup(const Step &step, Group group);
  bool gather(int64_t dim, Group group);
  bool scatter(int64_t dim, Group group);
  bool reduce(Group group);
  /// Every position of the group gets its part of `after` from one that has it
  /// and sends to no other.
  bool permute(const Layout &after, Group group);
  /// The dims other than `dim` (-1: all) are held alike in the group.
  bool alikeExcept(int64_t dim, Group group);
  bool sameSummands(Group group);

  const ReshardProblem &problem;
  std::string &error;
  std::vector<Held> held;
  Cost spent;
};

} // namespace

PlanSimulator::PlanSimulator(const ReshardProblem &problem, std::string &error)
    : problem(problem), error(error) {
  const Layout &source = problem.source;
  for (int64_t p = 0; p < problem.mesh.numDevices(); ++p) {
    llvm::BitVector summands(source.partial.numShards());
    summands.set(problem.mesh.index(source.partial, p));
    held.push_back({source.slice(problem.mesh, p), summands});
  }
}

bool PlanSimulator::alikeExcept(int64_t dim, Group group) {
  for (int64_t member : group)
    for (auto [d, interval] : llvm::enumerate(held[member].box))
      if (static_cast<int64_t>(d) != dim &&
          !(interval == held[group[0]].box[d]))
        return fail("positions of a group hold different parts of dim " +
                    llvm::Twine(d));
  return true;
}

bool PlanSimulator::sameSummands(Group group) {
  for (int64_t member : group)
    if (held[member].summands != held[group[0]].summands)
      return fail("positions of a group hold different summands");
  return true;
}

bool PlanSimulator::gather(int64_t dim, Group group) {
  if (!alikeExcept(dim, group) || !sameSummands(group))
    return false;
  Interval whole = held[group[0]].box[dim];
  for (int64_t member : group.drop_front()) {
    if (held[member].box[dim].start != whole.limit)
      return fail("gathered parts of dim " + llvm::Twine(dim) +
                  " do not follow each other");
    whole.limit = held[member].box[dim].limit;
  }
  for (int64_t member : group)
    held[member].box[dim] = whole;
  return true;
}

bool PlanSimulator::scatter(int64_t dim, Group group) {
  for (auto [index, member] : llvm::enumerate(group)) {
    Interval &part = held[member].box[dim];
    int64_t size = part.limit - part.start, count = group.size();
    if (size % count != 0)
      return fail("cannot shard " + llvm::Twine(size) + " into " +
                  llvm::Twine(count));
    int64_t start = part.start + static_cast<int64_t>(index) * (size / count);
    part = {start, start + size / count};
  }
  return true;
}

bool PlanSimulator::reduce(Group group) {
  if (!alikeExcept(-1, group))
    return false;
  llvm::BitVector sum(held[group[0]].summands.size());
  for (int64_t member : group) {
    if (sum.anyCommon(held[member].summands))
      return fail("a summand would be counted twice");
    sum |= held[member].summands;
  }
  for (int64_t member : group)
    held[member].summands = sum;
  return true;
}

bool PlanSimulator::permute(const Layout &after, Group group) {
  std::vector<Held> sent;
  llvm::BitVector taken(group.size());
  for (int64_t member : group) {
    Box wanted = after.slice(problem.mesh, member);
    const auto *source = llvm::find_if(group, [&](const int64_t &other) {
      return held[other].box == wanted && !taken[&other - group.data()];
    });
    if (source == group.end())
      return fail("no position is left to send its part to position " +
                  llvm::Twine(member));
    taken.set(source - group.begin());
    sent.push_back(held[*source]);
  }
  if (!sameSummands(group))
    return false;
  for (auto [member, part] : llvm::zip_equal(group, sent))
    held[member] = part;
  return true;
}

bool PlanSimulator::simulateGroup(const Step &step, Group group) {
  switch (step.kind) {
  case StepKind::Slice:
    return alikeExcept(-1, group) && sameSummands(group) &&
           scatter(step.dim, group);
  case StepKind::Permute:
    return permute(step.after, group);
  case StepKind::AllGather:
    return gather(step.dim, group);
  case StepKind::AllToAll:
    return gather(step.dim, group) && scatter(step.targetDim, group);
  case StepKind::ReduceScatter:
    return reduce(group) && scatter(step.dim, group);
  case StepKind::AllReduce:
    return reduce(group);
  }
  return false;
}

bool PlanSimulator::checkStep(const Step &step) {
  auto isDim = [&](int64_t dim) {
    return dim >= 0 && dim < problem.source.rank();
  };
  bool reduces =
      step.kind == StepKind::AllReduce || step.kind == StepKind::ReduceScatter;
  bool ofAllDims =
      step.kind == StepKind::AllReduce || step.kind == StepKind::Permute;
  if (!ofAllDims && !isDim(step.dim))
    return fail("no such dim: " + llvm::Twine(step.dim));
  if (step.kind == StepKind::AllToAll &&
      (!isDim(step.targetDim) || step.targetDim == step.dim))
    return fail("no such target dim: " + llvm::Twine(step.targetDim));
  if (reduces && step.reduction != problem.source.kind)
    return fail("the reduction is not that of the source");
  return true;
}

bool PlanSimulator::simulate(const Step &step) {
  if (!checkStep(step))
    return false;
  int64_t bytes = problem.elementBytes;
  for (Interval interval : held[0].box)
    bytes *= interval.limit - interval.start;
  auto groups = problem.mesh.groups(step.axes);
  spent += collectiveCost(step.kind, groups[0].size(), bytes);
  for (const auto &group : groups)
    if (!simulateGroup(step, group))
      return false;
  return true;
}

bool PlanSimulator::matches(const Layout &layout) {
  for (auto [p, here] : llvm::enumerate(held))
    if (here.box != layout.slice(problem.mesh, p))
      return fail("position " + llvm::Twine(p) +
                  " does not hold what the layout says");
  return true;
}

bool PlanSimulator::reachesTarget() {
  if (!matches(problem.target))
    return false;
  // A position's sum has the summands of those that differ from it only along
  // what the target is no longer partial along.
  const Layout &source = problem.source;
  AxisList reduced = source.partial.subtract(problem.target.partial);
  for (const auto &group : problem.mesh.groups(reduced)) {
    llvm::BitVector expected(source.partial.numShards());
    for (int64_t member : group)
      expected.set(problem.mesh.index(source.partial, member));
    for (int64_t member : group)
      if (held[member].summands != expected)
        return fail("position " + llvm::Twine(member) +
                    " does not hold the sum that the target says");
  }
  return true;
}

bool verifyPlan(const ReshardProblem &problem, const ReshardPlan &plan,
                std::string &error) {
  PlanSimulator simulator(problem, error);
  for (auto [i, step] : llvm::enumerate(plan.steps)) {
    if (simulator.simulate(step) && simulator.matches(step.after))
      continue;
    error = "step " + std::to_string(i) + ": " + error;
    return false;
  }
  if (!simulator.reachesTarget())
    return false;
  if (simulator.cost() == plan.cost)
    return true;
  error = "the plan costs " + std::to_string(simulator.cost().bytes) +
          " bytes, but states " + std::to_string(plan.cost.bytes);
  return false;
}

} // namespace shardonnay
