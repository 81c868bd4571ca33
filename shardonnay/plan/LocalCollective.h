//===- LocalCollective.h - exchanges and their cost -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exchanges as a device sees them, with their cost: windows (WindowPlan.h), and
// what a local computation fetches and sums.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_LOCALCOLLECTIVE_H
#define SHARDONNAY_PLAN_LOCALCOLLECTIVE_H

#include "shardonnay/algebra/Factor.h"
#include "shardonnay/cost/DeviceModel.h"
#include "shardonnay/plan/WindowPlan.h"
#include <map>

namespace shardonnay {

/// A collective as a device sees it.
struct LocalCollective {
  CollectiveKind kind = CollectiveKind::Permute;
  /// The axes that devices differ along which exchange data.
  AxisList axes;
  /// What all `count` of them cost.
  Cost cost;
  int64_t count = 1;

  double price(const MeshCosts &costs) const;
};

/// The collectives that fetch the windows of one dim; nothing if none is
/// needed. `sliceBytes` is what a device has of one position.
std::optional<LocalCollective> windowCollective(const WindowProblem &problem,
                                                int64_t sliceBytes);

/// The same, remembered.
class WindowPrices {
public:
  std::optional<LocalCollective> find(const WindowProblem &problem,
                                      int64_t sliceBytes);

private:
  /// What windows of one byte a position take, by all numbers of the problem
  /// but those of its axes: these are told apart by their sizes, and by which
  /// of them the shards and the windows share.
  std::map<llvm::SmallVector<int64_t, 16>, std::optional<LocalCollective>>
      known;
};

/// How the price of a window is found: windowCollective, or what remembers.
using WindowPricer = llvm::function_ref<std::optional<LocalCollective>(
    const FactorWindow &, const WindowProblem &, int64_t sliceBytes)>;

/// The collectives of the local computation: of what the rule's windows,
/// exchanged factors and sums say where `factorAxes`, the axes of each factor,
/// shards them. Operands and results are of `shapes`, whole; `deviceAxes` tell
/// apart the devices that together compute the op.
llvm::SmallVector<LocalCollective, 2>
fetchCollectives(const Mesh &mesh, const FactorRule &rule,
                 llvm::ArrayRef<AxisList> factorAxes,
                 llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes,
                 llvm::ArrayRef<int64_t> elementBytes,
                 const AxisList &deviceAxes, WindowPricer pricer);

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_LOCALCOLLECTIVE_H
