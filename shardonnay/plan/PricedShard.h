//===- PricedShard.h - what collectives cost on local sizes -----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A LocalShard that remembers what its collectives, and the windows between
// them, cost. The planner's layouts are padded so that shards nest: there none
// of the windows is seen.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_PRICEDSHARD_H
#define SHARDONNAY_PLAN_PRICEDSHARD_H

#include "shardonnay/algebra/LocalShard.h"
#include "shardonnay/plan/LocalCollective.h"

namespace shardonnay {

/// The axes that devices differ along which send each other data where each dim
/// of a tensor moves from its axes in `source` to those in `target`; in
/// canonical order.
AxisList axesOfPermute(llvm::ArrayRef<AxisList> source,
                       llvm::ArrayRef<AxisList> target);

class PricedShard : public LocalShard {
public:
  /// `windows`, if given, has to outlive this.
  PricedShard(const Mesh &mesh, llvm::ArrayRef<AxisList> dims,
              llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
              WindowPrices *windows = nullptr)
      : LocalShard(dims, shape), mesh(mesh), elementBytes(elementBytes),
        windows(windows) {}

  llvm::ArrayRef<LocalCollective> collectives() const { return done; }

protected:
  void onAllGather(int64_t dim, const AxisList &axes) override;
  void onAllSlice(int64_t, const AxisList &, int64_t) override {}
  void onAllToAll(int64_t source, int64_t target,
                  const AxisList &axes) override;
  void onAllReduce(const AxisList &axes, ReductionKind) override;
  void onReduceScatter(int64_t dim, const AxisList &axes, ReductionKind,
                       int64_t size) override;
  void onPermute(llvm::ArrayRef<AxisList> target, bool otherDevices) override;
  void onShardedToUnreduced(int64_t, const AxisList &) override {}
  void onReplicatedToUnreduced(const AxisList &) override {}
  void onWindow(int64_t dim, const AxisList &before, int64_t size) override;

private:
  int64_t bytes() const;
  void add(CollectiveKind kind, const AxisList &axes);

  const Mesh &mesh;
  int64_t elementBytes;
  WindowPrices *windows;
  llvm::SmallVector<LocalCollective, 4> done;
};

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_PRICEDSHARD_H
