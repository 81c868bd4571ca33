//===- LocalShard.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/LocalShard.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace shardonnay {

LocalShard::LocalShard(ArrayRef<AxisList> axes, ArrayRef<int64_t> shape)
    : dims(axes), shape(shape) {
  for (size_t dim = 0; dim < shape.size(); ++dim)
    local.push_back(restingSize(dim));
}

LocalShard::~LocalShard() = default;

int64_t LocalShard::restingSize(int64_t dim) const {
  return divideCeil(shape[dim], dims[dim].numShards());
}

void LocalShard::drop(int64_t dim, const AxisList &axes) {
  AxisList rest;
  dims[dim].suffixOfSize(axes.numShards(), &rest);
  dims[dim] = rest;
}

void LocalShard::resize(int64_t dim, const AxisList &before, int64_t size) {
  if (size != local[dim] || before != dims[dim])
    onWindow(dim, before, size);
  local[dim] = size;
}

void LocalShard::append(int64_t dim, const AxisList &axes) {
  AxisList before = dims[dim], after = before;
  after.append(axes);
  int64_t size = divideCeil(shape[dim], after.numShards());
  resize(dim, before, size * axes.numShards());
  dims[dim] = after;
}

void LocalShard::allGather(int64_t dim, const AxisList &axes) {
  onAllGather(dim, axes);
  drop(dim, axes);
  local[dim] *= axes.numShards();
  resize(dim, dims[dim], restingSize(dim));
}

void LocalShard::shardedToUnreduced(int64_t dim, const AxisList &axes) {
  onShardedToUnreduced(dim, axes);
  drop(dim, axes);
  local[dim] *= axes.numShards();
  resize(dim, dims[dim], restingSize(dim));
}

void LocalShard::replicatedToUnreduced(const AxisList &axes) {
  onReplicatedToUnreduced(axes);
}

void LocalShard::allSlice(int64_t dim, const AxisList &axes) {
  AxisList before = dims[dim];
  dims[dim].append(axes);
  int64_t size = restingSize(dim);
  if (size * axes.numShards() != local[dim])
    return resize(dim, before, size);
  onAllSlice(dim, axes, size);
  local[dim] = size;
}

void LocalShard::reduceScatter(int64_t dim, const AxisList &axes,
                               ReductionKind kind) {
  append(dim, axes);
  onReduceScatter(dim, axes, kind, restingSize(dim));
  local[dim] = restingSize(dim);
}

void LocalShard::allReduce(const AxisList &axes, ReductionKind kind) {
  onAllReduce(axes, kind);
}

void LocalShard::permute(ArrayRef<AxisList> target) {
  onPermute(target, /*otherDevices=*/false);
  dims.assign(target.begin(), target.end());
}

void LocalShard::permuteDevices(ArrayRef<AxisList> target) {
  onPermute(target, /*otherDevices=*/true);
  dims.assign(target.begin(), target.end());
}

void LocalShard::allToAll(int64_t source, int64_t target,
                          const AxisList &axes) {
  drop(source, axes);
  append(target, axes);
  onAllToAll(source, target, axes);
  local[source] *= axes.numShards();
  local[target] = restingSize(target);
  resize(source, dims[source], restingSize(source));
}

} // namespace shardonnay
