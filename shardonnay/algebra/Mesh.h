//===- Mesh.h - devices as a multi-dimensional array ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mesh views N devices as an array with one dimension an axis, row-major. The
// *position* p in 0..N-1 of a cell is its row-major index; the coordinate of p
// along axis k is p / (product of the sizes after k) mod size k. `deviceIds`
// says which device stands at each position; empty means device p at position
// p. Everything else in the algebra speaks of positions; only the emission of
// replica groups asks for devices.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_MESH_H
#define SHARDONNAY_ALGEBRA_MESH_H

#include "shardonnay/algebra/AxisList.h"
#include <vector>

namespace shardonnay {

class Mesh {
public:
  Mesh() = default;
  /// `deviceIds`: empty or a permutation; the identity is stored as empty,
  /// except that a mesh without axes keeps its one id (a maximal mesh).
  explicit Mesh(llvm::ArrayRef<int64_t> axisSizes,
                llvm::ArrayRef<int64_t> deviceIds = {});

  int64_t numAxes() const { return sizes.size(); }
  int64_t axisSize(int64_t axis) const { return sizes[axis]; }
  llvm::ArrayRef<int64_t> axisSizes() const { return sizes; }
  /// Device at each position; empty for the identity.
  llvm::ArrayRef<int64_t> deviceIds() const { return ids; }
  /// The product of the axis sizes.
  int64_t numDevices() const;
  int64_t deviceAt(int64_t position) const {
    return ids.empty() ? position : ids[position];
  }

  AxisRef fullAxis(int64_t axis) const {
    return {static_cast<int32_t>(axis), 1, sizes[axis]};
  }
  bool isFull(AxisRef ref) const { return ref.size == sizes[ref.axis]; }
  /// All axes, major to minor.
  AxisList allAxes() const;

  /// The coordinate of the device at `position` along `axis`: 0 .. axis.size-1.
  int64_t coordinate(AxisRef axis, int64_t position) const;
  /// The index of `position` along the list, the first axis most significant: 0
  /// .. numShards-1; 0 for the empty list.
  int64_t index(const AxisList &axes, int64_t position) const;
  /// The index of every position.
  std::vector<int64_t> indices(const AxisList &axes) const;
  /// The positions that differ only along `axes`, one group for each setting of
  /// the rest; inside a group in the order of `index`, groups by their first
  /// member.
  llvm::SmallVector<llvm::SmallVector<int64_t>>
  groups(const AxisList &axes) const;

  bool operator==(const Mesh &o) const {
    return sizes == o.sizes && ids == o.ids;
  }
  bool operator!=(const Mesh &o) const { return !(*this == o); }

private:
  /// How far apart two positions are that differ by one along `axis`.
  int64_t stride(AxisRef axis) const;

  llvm::SmallVector<int64_t, 4> sizes;
  llvm::SmallVector<int64_t, 0> ids;
};

/// <2x4> device_ids=[...]
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Mesh &mesh);

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_MESH_H
