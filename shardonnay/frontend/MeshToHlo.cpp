//===- MeshToHlo.cpp - HLO shardings of meshes and axes -------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. The axes in the order of the tile array: those of each dim, then the
// manual
//    ones, the unreduced ones, and the rest, as copies.
// 2. Read as digits of the position in the mesh, [start, end), they are a
//    transposed iota of the positions.
// 3. If the mesh has an order of its own, the devices are listed.
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/MeshFactoring.h"

#include "llvm/ADT/STLExtras.h"

namespace shardonnay {

namespace {

/// The digit (position / start) mod (end / start).
struct Digit {
  int64_t start = 1;
  int64_t end = 1;
};

Digit toDigit(AxisRef axis, const Mesh &mesh) {
  int64_t minor = 1;
  for (int64_t size : mesh.axisSizes().drop_front(axis.axis + 1))
    minor *= size;
  int64_t end = minor * mesh.axisSize(axis.axis) / axis.pre;
  return {end / axis.size, end};
}

/// The positions whose digits, major to minor, are `digits`.
DeviceOrder toIota(llvm::ArrayRef<Digit> digits) {
  llvm::SmallVector<Digit> merged;
  for (Digit digit : digits) {
    if (!merged.empty() && merged.back().start == digit.end)
      merged.back().start = digit.start;
    else
      merged.push_back(digit);
  }
  llvm::SmallVector<Digit> sorted = merged;
  llvm::sort(sorted, [](Digit a, Digit b) { return a.start > b.start; });
  DeviceOrder order;
  for (Digit digit : sorted)
    order.reshape.push_back(digit.end / digit.start);
  for (Digit digit : merged) {
    auto *place = llvm::find_if(
        sorted, [&](Digit other) { return other.start == digit.start; });
    order.permutation.push_back(place - sorted.begin());
  }
  return order;
}

} // namespace

HloSharding toHloSharding(const Mesh &mesh, const TensorSharding &sharding,
                          const AxisList &manual) {
  HloSharding result;
  llvm::SmallVector<Digit> digits;
  AxisList used;
  auto append = [&](const AxisList &axes) {
    for (AxisRef axis : axes)
      if (axis.size > 1)
        digits.push_back(toDigit(axis, mesh));
    used.append(axes);
    result.tiles.push_back(axes.numShards());
  };
  auto appendSubgroup = [&](const AxisList &axes, Subgroup subgroup) {
    if (axes.numShards() == 1)
      return;
    append(axes);
    result.subgroups.push_back(subgroup);
  };
  for (const DimSharding &dim : sharding.dims)
    append(dim.axes);
  appendSubgroup(manual, Subgroup::Manual);
  appendSubgroup(sharding.unreduced, Subgroup::Unreduced);
  AxisList rest = mesh.allAxes().subtract(used);
  appendSubgroup(rest, Subgroup::Replicated);

  if (rest.numShards() == mesh.numDevices())
    return HloSharding::of(HloSharding::Kind::Replicated);
  bool coversAll = rest.numShards() == 1;
  if (coversAll && manual.numShards() == mesh.numDevices())
    return HloSharding::of(HloSharding::Kind::Manual);
  if (coversAll && sharding.unreduced.numShards() == mesh.numDevices())
    return HloSharding::of(HloSharding::Kind::Unreduced);
  result.kind = HloSharding::Kind::Tiled;
  result.devices = toIota(digits);
  if (!mesh.deviceIds().empty()) {
    DeviceOrder listed;
    for (int64_t place = 0; place < mesh.numDevices(); ++place)
      listed.list.push_back(mesh.deviceAt(result.devices.deviceAt(place)));
    result.devices = std::move(listed);
  }
  return result;
}

} // namespace shardonnay
