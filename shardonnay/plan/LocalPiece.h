//===- LocalPiece.h - collectives on what a device holds --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What collectives cost on the sizes that devices really hold. Between them a
// dim of size n that p shards cut has ceil(n / p) positions on a device, so
// where the pieces before and after do not nest a few positions move beside
// (WindowPlan.h): the planner's layouts are padded so that they nest.
//
// Worked example, 10 rows on x of size 2 and y of size 2, gathered along y:
// four devices hold 3, 3, 3 and 1; two hold 5 each. The gather makes 6 of 3;
// then row 5 comes from the other, one permute.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_LOCALPIECE_H
#define SHARDONNAY_PLAN_LOCALPIECE_H

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
  /// Of all `count` of them.
  Cost cost;
  int64_t count = 1;

  double price(const MeshCosts &costs) const;
};

/// The collectives that fetch the windows of one dim; nothing if none is
/// needed. `sliceBytes` is what a device has of one position.
std::optional<LocalCollective> windowCollective(const WindowProblem &problem,
                                                int64_t sliceBytes);

/// The same, remembered; all on one mesh.
class WindowPrices {
public:
  std::optional<LocalCollective> find(const WindowProblem &problem,
                                      int64_t sliceBytes);

private:
  /// What windows of one byte a position take, by all numbers of the problem.
  std::map<llvm::SmallVector<int64_t, 16>, std::optional<LocalCollective>>
      known;
};

/// How the price of a window is found: windowCollective, or what remembers.
using WindowPricer = llvm::function_ref<std::optional<LocalCollective>(
    const FactorWindow &, const WindowProblem &, int64_t sliceBytes)>;

/// The collectives of the local computation: of what the rule's windows,
/// exchanged factors and sums say where `assignment`, the axes of each factor,
/// cuts them. Operands and results are of `shapes`, whole; `deviceAxes` tell
/// apart the devices that together compute the op.
llvm::SmallVector<LocalCollective, 2>
fetchCollectives(const Mesh &mesh, const FactorRule &rule,
                 llvm::ArrayRef<AxisList> assignment,
                 llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes,
                 llvm::ArrayRef<int64_t> elementBytes,
                 const AxisList &deviceAxes, WindowPricer pricer);

/// Changes its layout collective by collective, and remembers them.
class LocalPiece {
public:
  /// `windows`, if given, has to outlive this.
  LocalPiece(const Mesh &mesh, llvm::ArrayRef<AxisList> dims,
             llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
             WindowPrices *windows = nullptr);

  void gather(int64_t dim, const AxisList &axes);
  /// Parts of a sum: what is in other pieces is zero.
  void widen(int64_t dim, const AxisList &axes);
  void slice(int64_t dim, const AxisList &axes);
  void reduceScatter(int64_t dim, const AxisList &axes);
  void allReduce(const AxisList &axes);
  void permute(llvm::ArrayRef<AxisList> target);
  /// The same pieces on devices in another order: anyone may send to anyone.
  void reorder();
  /// Axes that cut dim `source` come to cut dim `target`.
  void move(int64_t source, int64_t target, const AxisList &axes);

  llvm::ArrayRef<LocalCollective> collectives() const { return done; }

private:
  int64_t bytes() const;
  int64_t plainSize(int64_t dim) const;
  void add(CollectiveKind kind, const AxisList &axes);
  void drop(int64_t dim, const AxisList &axes);
  /// Pieces of dim `dim`, which `before` cuts, become those of `size`.
  void recut(int64_t dim, const AxisList &before, int64_t size);
  /// Makes dim's pieces so large that `axes` divide them, which come to cut it.
  void append(int64_t dim, const AxisList &axes);

  const Mesh &mesh;
  llvm::SmallVector<AxisList, 4> dims;
  llvm::SmallVector<int64_t, 4> shape, local;
  int64_t elementBytes;
  WindowPrices *windows;
  llvm::SmallVector<LocalCollective, 4> done;
};

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_LOCALPIECE_H
