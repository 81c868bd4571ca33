//===- ReshardPlan.h - the cheapest way from a layout to another *- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reshard moves a tensor from a source layout to a target layout of the same
// padded shape, by steps that each are one collective:
//
//   slice           appends axes that are not in use as the minor-most of a dim
//   permute         shards any dims by other axes, of as many shards: a device
//                   gets its shard from one that has it
//   all_gather      drops a minor suffix of a dim's axes
//   all_to_all      moves a minor suffix of a dim's axes to be the minor-most
//                   of another dim
//   reduce_scatter  reduces partial axes, and appends them as the minor-most of
//                   a dim
//   all_reduce      reduces partial axes
//
// Axes of a step are a tuple: several are one collective over all of them.
// A plan is the cheapest sequence (by MeshCosts; the shortest of equal ones)
// under these rules:
//
//  * axes are moved whole, in the parts that a Refinement of the two layouts
//    names, or as a permute needs them (PermuteSearch.h);
//  * in every layout on the way, the dims divide by their axes;
//  * only axes that shard some dim of the target are brought in by a slice or a
//    permute;
//  * no layout on the way is larger, on a device, than both source and target,
//    unless there is no other way.
//
// Worked example, x and y of size 2: from [{x}, {y}] to [{y}, {x}] by a
// permute, of the bytes that a device has. From [{x, y}, {}] to [{}, {y, x}] by
// a permute to [{y, x}, {}] and an all_to_all.
//
// Where axes do not divide the sizes (`shape`), the plan on the padded sizes is
// the first one, and is kept unless another is cheaper by what devices really
// hold. There every layout may be come by, and a step's price is that of its
// collective and of the windows (halo shifts) that bring the shards before to
// where the step needs them, and those behind it to where the layout has them.
// If, as sizes are rounded up, every plan is larger on the way than source and
// target, one may be as large as the plan on padded sizes is.
//
// Partial axes of the target must be partial in the source: no step makes a
// whole tensor partial.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_RESHARDPLAN_H
#define SHARDONNAY_PLAN_RESHARDPLAN_H

#include "shardonnay/algebra/Layout.h"
#include "shardonnay/cost/DeviceModel.h"
#include "shardonnay/plan/LocalCollective.h"
#include <unordered_map>

namespace shardonnay {

struct ReshardProblem {
  Mesh mesh;
  Layout source;
  Layout target;
  int64_t elementBytes = 1;
  MeshCosts costs = {};
  /// The tensor's own sizes where the axes do not divide them: plans are then
  /// priced, and chosen, by what devices really hold (PricedShard.h). Empty
  /// where the padded sizes are the sizes, or are to stand for them.
  llvm::SmallVector<int64_t, 4> shape = {};

  bool operator==(const ReshardProblem &o) const {
    return mesh == o.mesh && source == o.source && target == o.target &&
           elementBytes == o.elementBytes && costs == o.costs &&
           shape == o.shape;
  }
};

using StepKind = CollectiveKind;

struct Step {
  StepKind kind = StepKind::Slice;
  /// The dim that is sliced, gathered or scattered; the source dim of an
  /// all_to_all; -1 of an all_reduce and of a permute.
  int64_t dim = -1;
  /// The dim that an all_to_all moves the axes to; -1 of the others.
  int64_t targetDim = -1;
  /// Major to minor, as they stand in the dim; in canonical order for an
  /// all_reduce, and for a permute, where they are all that it moves data
  /// along.
  AxisList axes;
  /// How reduce_scatter and all_reduce combine values.
  ReductionKind reduction = ReductionKind::Sum;
  /// The layout that the step leads to.
  Layout after;
};

/// Plans are kept, and most have a step or two.
using Steps = llvm::SmallVector<Step, 0>;

struct ReshardPlan {
  Steps steps;
  /// The sum of the steps' costs, and of their prices.
  Cost cost;
  double price = 0;
  /// The searches came to their end: no sequence that they know is cheaper. If
  /// not, the plan is the best that was found, or reduces, gathers and slices
  /// whatever differs.
  bool optimal = true;
};

/// Pads dims that the two layouts, of one shape, pad to different sizes so that
/// both divide them. A plan between the two tells the collectives; where the
/// shards of the real size do not nest, partitioning moves the few elements
/// between.
void alignPadding(Layout &source, Layout &target);

/// From `source` to `target`, layouts of a tensor of `shape`, by what devices
/// really hold.
ReshardProblem realProblem(const Mesh &mesh, Layout source, Layout target,
                           llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                           MeshCosts costs);

/// How many layouts a search may come by; where each step is priced by what
/// devices really hold, how many of these. A tenth of it where the layouts have
/// many axes.
inline constexpr int64_t kReshardStateBudget = 20000;
inline constexpr int64_t kUnevenStateBudget = 5000;

/// How hard a plan is looked for.
struct ReshardEffort {
  /// How many layouts a search may come by.
  int64_t states = kReshardStateBudget;
  /// Permutes may lead to any layout, and not only to what the target has, even
  /// where all links are equal. There such plans are dear to look for and are
  /// nearly never cheaper: PermuteSearch.h knows those with one permute.
  bool permutesAnywhere = true;
};

/// The plan of a problem. Nothing where the layouts do not fit together: ranks,
/// padded sizes or reduction kinds differ, dims do not divide by their axes, or
/// the target is partial where the source is not; `error` then says why.
std::optional<ReshardPlan> planReshard(const ReshardProblem &problem,
                                       std::string &error,
                                       ReshardEffort effort = {});
/// The same, with what windows cost, as found for problems before.
std::optional<ReshardPlan> planReshard(const ReshardProblem &problem,
                                       std::string &error, ReshardEffort effort,
                                       WindowPrices &windows);

/// Simulates the steps on every position of the mesh, with the slices that the
/// positions hold and the parts that went into their sums, and checks that each
/// step finds what it needs, the end is the target, and the cost is as stated.
/// Independent of the planner; takes time in the number of positions.
bool verifyPlan(const ReshardProblem &problem, const ReshardPlan &plan,
                std::string &error);

/// At least the price of every plan: a device has to be sent what it lacks of
/// its part of the target. 0 where that is not easily told.
double leastPrice(const ReshardProblem &problem);
double leastPrice(const Layout &source, const Layout &target,
                  int64_t elementBytes, const MeshCosts &costs);

/// Plans, and remembers the plans of problems seen before.
class ReshardPlanner {
public:
  explicit ReshardPlanner(ReshardEffort effort = {}) : effort(effort) {}

  /// As planReshard. The plan lives as long as the planner; null on error.
  const ReshardPlan *plan(const ReshardProblem &problem, std::string &error);

private:
  struct Hash {
    size_t operator()(const ReshardProblem &problem) const;
  };
  ReshardEffort effort;
  WindowPrices windows;
  std::unordered_map<ReshardProblem, ReshardPlan, Hash> plans;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Step &step);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const ReshardPlan &plan);

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_RESHARDPLAN_H
