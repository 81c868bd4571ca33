//===- Mesh.cpp -----------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/Mesh.h"
#include "llvm/ADT/STLExtras.h"

namespace shardonnay {

Mesh::Mesh(llvm::ArrayRef<int64_t> axisSizes, llvm::ArrayRef<int64_t> deviceIds)
    : sizes(axisSizes.begin(), axisSizes.end()),
      ids(deviceIds.begin(), deviceIds.end()) {
  // The one id of a mesh without axes says which device it is, even if it is 0.
  auto isInPlace = [](auto entry) {
    return entry.value() == static_cast<int64_t>(entry.index());
  };
  if (!sizes.empty() && llvm::all_of(llvm::enumerate(ids), isInPlace))
    ids.clear();
}

int64_t Mesh::numDevices() const { return llvm::product_of(sizes); }

AxisList Mesh::allAxes() const {
  AxisList axes;
  for (int64_t axis = 0; axis < numAxes(); ++axis)
    axes.append(fullAxis(axis));
  return axes;
}

int64_t Mesh::stride(AxisRef axis) const {
  int64_t stride = sizes[axis.axis] / axis.end();
  for (int64_t minor = axis.axis + 1; minor < numAxes(); ++minor)
    stride *= sizes[minor];
  return stride;
}

int64_t Mesh::coordinate(AxisRef axis, int64_t position) const {
  return position / stride(axis) % axis.size;
}

int64_t Mesh::index(const AxisList &axes, int64_t position) const {
  int64_t index = 0;
  for (AxisRef axis : axes)
    index = index * axis.size + coordinate(axis, position);
  return index;
}

std::vector<int64_t> Mesh::indices(const AxisList &axes) const {
  std::vector<int64_t> indices(numDevices());
  for (AxisRef axis : axes)
    for (int64_t position = 0, step = stride(axis), at = 0, end = numDevices();
         position < end; position += step, at = (at + 1) % axis.size)
      for (int64_t i = position; i < position + step; ++i)
        indices[i] = indices[i] * axis.size + at;
  return indices;
}

llvm::SmallVector<llvm::SmallVector<int64_t>>
Mesh::groups(const AxisList &axes) const {
  // Members of a group are at the same offsets from its first one.
  llvm::SmallVector<int64_t> offsets = {0};
  for (AxisRef axis : axes) {
    llvm::SmallVector<int64_t> longer;
    for (int64_t offset : offsets)
      for (int64_t i = 0, step = stride(axis); i < axis.size; ++i)
        longer.push_back(offset + i * step);
    offsets = std::move(longer);
  }
  llvm::SmallVector<llvm::SmallVector<int64_t>> groups;
  groups.reserve(numDevices() / static_cast<int64_t>(offsets.size()));
  for (auto [first, index] : llvm::enumerate(indices(axes)))
    if (index == 0)
      for (int64_t &member : groups.emplace_back(offsets))
        member += static_cast<int64_t>(first);
  return groups;
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Mesh &mesh) {
  os << "<";
  llvm::interleave(mesh.axisSizes(), os, "x");
  os << ">";
  if (!mesh.deviceIds().empty()) {
    os << " device_ids=[";
    llvm::interleaveComma(mesh.deviceIds(), os);
    os << "]";
  }
  return os;
}

} // namespace shardonnay
