//===- MeshMapping.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/MeshMapping.h"

#include "llvm/ADT/STLExtras.h"

using llvm::SmallVector;

namespace shardonnay {

/// How far apart two positions are that differ by one along `axis`.
static int64_t strideOf(const Mesh &mesh, AxisRef axis) {
  int64_t stride = mesh.axisSize(axis.axis) / axis.end();
  for (int64_t minor = axis.axis + 1; minor < mesh.numAxes(); ++minor)
    stride *= mesh.axisSize(minor);
  return stride;
}

std::vector<int64_t> getPositions(const Mesh &mesh) {
  std::vector<int64_t> positions(mesh.numDevices());
  for (int64_t position = 0; position < mesh.numDevices(); ++position)
    positions[mesh.deviceAt(position)] = position;
  return positions;
}

std::optional<MeshMapping> MeshMapping::get(const Mesh &from, const Mesh &to) {
  int64_t numDevices = from.numDevices();
  if (to.numDevices() != numDevices)
    return std::nullopt;
  MeshMapping mapping(from, to);
  std::vector<int64_t> positions = getPositions(to);
  for (int64_t position = 0; position < numDevices; ++position)
    mapping.image.push_back(positions[from.deviceAt(position)]);
  return mapping;
}

int64_t MeshMapping::imageAt(const AxisList &axes, int64_t index) const {
  int64_t position = 0;
  for (AxisRef axis : llvm::reverse(axes.refs())) {
    position += index % axis.size * strideOf(from, axis);
    index /= axis.size;
  }
  return image[position];
}

std::optional<AxisRef> MeshMapping::findRun(const AxisList &axes, int64_t unit,
                                            int64_t limit) const {
  int64_t step = imageAt(axes, unit);
  for (int64_t axis = 0; axis < to.numAxes(); ++axis) {
    AxisRef full = to.fullAxis(axis);
    int64_t stride = strideOf(to, full);
    if (step < stride || step >= stride * full.size)
      continue;
    int64_t minor = step / stride;
    if (step % stride != 0 || full.size % minor != 0)
      return std::nullopt;
    int64_t room = full.size / minor;
    auto isRun = [&](int64_t length) {
      if (limit % length != 0 || room % length != 0)
        return false;
      for (int64_t i = 0; i < length; ++i)
        if (imageAt(axes, unit * i) != step * i)
          return false;
      return true;
    };
    for (int64_t length = std::min(limit, room); length > 1; --length)
      if (isRun(length))
        return AxisRef{full.axis, room / length, length};
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<AxisList> MeshMapping::readOff(const AxisList &axes) const {
  SmallVector<AxisRef> minorFirst;
  int64_t unit = 1, rest = axes.numShards();
  while (rest > 1) {
    std::optional<AxisRef> run = findRun(axes, unit, rest);
    if (!run)
      return std::nullopt;
    minorFirst.push_back(*run);
    unit *= run->size;
    rest /= run->size;
  }
  AxisList list;
  for (AxisRef run : llvm::reverse(minorFirst))
    list.append(run);
  return list;
}

std::optional<AxisList> MeshMapping::map(const AxisList &axes) const {
  auto [entry, isNew] = known.try_emplace(axes);
  if (!isNew)
    return entry->second;
  std::optional<AxisList> list = readOff(axes);
  for (int64_t position = 0, end = image.size(); list && position < end;
       ++position)
    if (from.index(axes, position) != to.index(*list, image[position]))
      list = std::nullopt;
  return entry->second = list;
}

std::optional<TensorSharding>
MeshMapping::map(const TensorSharding &sharding) const {
  TensorSharding result = sharding;
  auto replace = [&](AxisList &axes) {
    std::optional<AxisList> mapped = map(axes);
    if (mapped)
      axes = std::move(*mapped);
    return mapped.has_value();
  };
  for (DimSharding &dim : result.dims)
    if (!replace(dim.axes))
      return std::nullopt;
  if (!replace(result.replicated) || !replace(result.unreduced))
    return std::nullopt;
  result.replicated = result.replicated.sorted();
  result.unreduced = result.unreduced.sorted();
  return result;
}

} // namespace shardonnay
