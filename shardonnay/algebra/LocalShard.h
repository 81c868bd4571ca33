//===- LocalShard.h - what a device holds, through collectives --*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one meaning of collectives on local sizes. Between collectives a dim of
// size n that p shards divide has ceil(n / p) positions on a device; where the
// shards before and after do not nest, a window moves a few positions beside.
// What is done with each exchange, to price it or to build it, is a subclass.
//
// Worked example, 10 rows on x of size 2 and y of size 2, gathered along y:
// four devices hold 3, 3, 3 and 1; two hold 5 each. The gather makes 6 of 3;
// then a window takes row 5 from the other.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_LOCALSHARD_H
#define SHARDONNAY_ALGEBRA_LOCALSHARD_H

#include "shardonnay/algebra/AxisList.h"
#include "shardonnay/algebra/Reduction.h"

namespace shardonnay {

class LocalShard {
public:
  /// The shard of a tensor of size `shape` whose dims are sharded by `axes`.
  LocalShard(llvm::ArrayRef<AxisList> axes, llvm::ArrayRef<int64_t> shape);
  virtual ~LocalShard();

  void allGather(int64_t dim, const AxisList &axes);
  void allSlice(int64_t dim, const AxisList &axes);
  /// Axes that shard dim `source` come to shard dim `target`.
  void allToAll(int64_t source, int64_t target, const AxisList &axes);
  void allReduce(const AxisList &axes, ReductionKind kind);
  void reduceScatter(int64_t dim, const AxisList &axes, ReductionKind kind);
  void permute(llvm::ArrayRef<AxisList> target);
  /// The same, to a mesh whose devices are in another order.
  void permuteDevices(llvm::ArrayRef<AxisList> target);
  /// Shards along `axes` become summands of all that the axes divide.
  void shardedToUnreduced(int64_t dim, const AxisList &axes);
  /// What is whole along `axes` becomes one of its summands.
  void replicatedToUnreduced(const AxisList &axes);

protected:
  /// Called for each exchange, before the sizes are those behind it.
  virtual void onAllGather(int64_t dim, const AxisList &axes) = 0;
  /// The shard of `size` is a part of what the device holds.
  virtual void onAllSlice(int64_t dim, const AxisList &axes, int64_t size) = 0;
  virtual void onAllToAll(int64_t source, int64_t target,
                          const AxisList &axes) = 0;
  virtual void onAllReduce(const AxisList &axes, ReductionKind kind) = 0;
  /// Shards of `size` are left.
  virtual void onReduceScatter(int64_t dim, const AxisList &axes,
                               ReductionKind kind, int64_t size) = 0;
  virtual void onPermute(llvm::ArrayRef<AxisList> target,
                         bool otherDevices) = 0;
  virtual void onShardedToUnreduced(int64_t dim, const AxisList &axes) = 0;
  virtual void onReplicatedToUnreduced(const AxisList &axes) = 0;
  /// Shards of dim `dim`, which `before` divides, become those of `size`, which
  /// its present axes divide.
  virtual void onWindow(int64_t dim, const AxisList &before, int64_t size) = 0;

  llvm::ArrayRef<AxisList> axes() const { return dims; }
  llvm::ArrayRef<int64_t> globalShape() const { return shape; }
  /// What the device holds now.
  llvm::ArrayRef<int64_t> localShape() const { return local; }

private:
  /// The size of dim `dim` on a device between collectives.
  int64_t restingSize(int64_t dim) const;
  void drop(int64_t dim, const AxisList &axes);
  void resize(int64_t dim, const AxisList &before, int64_t size);
  /// `axes` come to divide `dim` further: makes its shards so large that they
  /// divide them.
  void append(int64_t dim, const AxisList &axes);

  llvm::SmallVector<AxisList, 4> dims;
  llvm::SmallVector<int64_t, 4> shape, local;
};

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_LOCALSHARD_H
