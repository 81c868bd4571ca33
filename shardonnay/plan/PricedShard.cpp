//===- PricedShard.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/PricedShard.h"

#include "shardonnay/algebra/Counts.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardonnay {

int64_t PricedShard::bytes() const {
  int64_t result = elementBytes;
  for (int64_t size : localShape())
    result = countProduct(result, size);
  return result;
}

void PricedShard::add(CollectiveKind kind, const AxisList &axes) {
  done.push_back(
      {kind, axes, collectiveCost(kind, axes.numShards(), bytes()), 1});
}

void PricedShard::onAllGather(int64_t, const AxisList &axes) {
  add(CollectiveKind::AllGather, axes);
}

void PricedShard::onAllToAll(int64_t, int64_t, const AxisList &axes) {
  add(CollectiveKind::AllToAll, axes);
}

void PricedShard::onAllReduce(const AxisList &axes, ReductionKind) {
  add(CollectiveKind::AllReduce, axes);
}

AxisList axesOfPermute(ArrayRef<AxisList> source, ArrayRef<AxisList> target) {
  AxisList touched;
  for (auto [from, to] : zip_equal(source, target))
    if (from != to)
      for (const AxisList &list : {from, to})
        for (AxisRef axis : list)
          if (!touched.excludes(axis))
            touched.append(axis);
  return touched.sorted();
}

void PricedShard::onReduceScatter(int64_t, const AxisList &axes, ReductionKind,
                                  int64_t) {
  add(CollectiveKind::ReduceScatter, axes);
}

void PricedShard::onPermute(ArrayRef<AxisList> target, bool otherDevices) {
  // Between unlike orders anyone may send to anyone.
  if (otherDevices)
    return add(CollectiveKind::Permute, mesh.allAxes());
  add(CollectiveKind::Permute, axesOfPermute(axes(), target));
}

void PricedShard::onWindow(int64_t dim, const AxisList &before, int64_t size) {
  int64_t held = localShape()[dim];
  WindowProblem problem{
      mesh, before, axes()[dim],       held, globalShape()[dim], 0,
      size, size,   /*periodic=*/false};
  int64_t sliceBytes = held == 0 ? 0 : bytes() / held;
  if (auto window = windows ? windows->find(problem, sliceBytes)
                            : windowCollective(problem, sliceBytes))
    done.push_back(*window);
}

} // namespace shardonnay
