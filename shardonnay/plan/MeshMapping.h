//===- MeshMapping.h - one mesh in the axes of another ----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two meshes view the same devices. A list of axes of the one *is* a list of
// axes of the other where every device has the same index along both. Let f(i)
// be the position in the other mesh of the device at index i along the list.
// The only list that can be it is read off f, from index 0 on: runs of equal
// steps within an axis of the other mesh, minor to major, whose lengths divide
// that axis. Then every device is asked.
//
// Worked examples: on 8 devices in their own order, z of ["z"=4, "w"=2] is
// {"a", "b":(1)2} of ["a"=2, "b"=4], and w is {"b":(2)2}. Of a mesh ["p"=4,
// "q"=2] with the devices 0, 4, 1, 5, 2, 6, 3, 7, p is {"b"} and q is {"a"}.
// Of 6 devices, s of ["s"=2, "t"=3] is nothing in ["a"=3, "b"=2], but {"s",
// "t"} is {"a", "b"}.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_MESHMAPPING_H
#define SHARDONNAY_PLAN_MESHMAPPING_H

#include "shardonnay/algebra/Mesh.h"
#include "shardonnay/algebra/TensorSharding.h"
#include <map>

namespace shardonnay {

/// The position in the mesh of each of its devices.
std::vector<int64_t> getPositions(const Mesh &mesh);

class MeshMapping {
public:
  /// Nothing if the meshes differ in the number of devices.
  static std::optional<MeshMapping> get(const Mesh &from, const Mesh &to);

  /// `axes` of the one mesh in those of the other; nothing if they are none.
  std::optional<AxisList> map(const AxisList &axes) const;
  /// The same shards on the same devices.
  std::optional<TensorSharding> map(const TensorSharding &sharding) const;

private:
  MeshMapping(const Mesh &from, const Mesh &to) : from(from), to(to) {}
  std::optional<AxisList> readOff(const AxisList &axes) const;
  /// The position in `to` of the device at `index` along `axes`, and at the
  /// beginning of all other axes.
  int64_t imageAt(const AxisList &axes, int64_t index) const;
  /// The longest axis of `to`, of a size that divides `limit`, along which
  /// steps of `unit` along `axes` go.
  std::optional<AxisRef> findRun(const AxisList &axes, int64_t unit,
                                 int64_t limit) const;

  Mesh from, to;
  /// For each position in `from` the one in `to`.
  llvm::SmallVector<int64_t, 0> image;
  mutable std::map<AxisList, std::optional<AxisList>> known;
};

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_MESHMAPPING_H
