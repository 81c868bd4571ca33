//===- Generators.h - random meshes, axes and layouts for tests -*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Property tests draw from here. A *splitting* divides every axis of a mesh
// into parts that coexist; lists and layouts that are made of one splitting's
// parts fit together.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_GENERATORS_H
#define SHARDONNAY_ALGEBRA_GENERATORS_H

#include "shardonnay/algebra/Layout.h"
#include <numeric>
#include <rapidcheck.h>
#include <vector>

namespace shardonnay::gen {

/// 0 .. limit - 1, evenly: rapidcheck's own ranges start small.
inline int64_t below(int64_t limit) {
  return *rc::gen::resize(rc::kNominalSize,
                          rc::gen::inRange<int64_t>(0, limit));
}

inline std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> result;
  for (int64_t d = 1; d <= n; ++d)
    if (n % d == 0)
      result.push_back(d);
  return result;
}

/// One to three axes, some of sizes whose sub-axes need not coexist.
inline Mesh mesh() {
  static const std::vector<std::vector<int64_t>> kMeshes = {
      {6},    {8},    {12},    {24},      {2, 2},    {4, 3},
      {2, 4}, {6, 4}, {12, 2}, {2, 2, 2}, {4, 2, 6}, {2, 3, 4}};
  return Mesh(*rc::gen::elementOf(kMeshes));
}

/// Any sub-axis or full axis of size > 1.
inline AxisRef axisRef(const Mesh &mesh) {
  int32_t axis = below(mesh.numAxes());
  int64_t size =
      *rc::gen::suchThat(rc::gen::elementOf(divisors(mesh.axisSize(axis))),
                         [](int64_t size) { return size > 1; });
  int64_t pre = *rc::gen::elementOf(divisors(mesh.axisSize(axis) / size));
  return {axis, pre, size};
}

/// A random splitting: its parts in random order.
inline std::vector<AxisRef> splitting(const Mesh &mesh) {
  std::vector<AxisRef> parts;
  for (int32_t axis = 0; axis < mesh.numAxes(); ++axis) {
    int64_t size = mesh.axisSize(axis);
    for (int64_t pre = 1; pre < size;) {
      int64_t part =
          *rc::gen::suchThat(rc::gen::elementOf(divisors(size / pre)),
                             [](int64_t part) { return part > 1; });
      parts.push_back({axis, pre, part});
      pre *= part;
    }
  }
  for (size_t i = parts.size(); i > 1; --i)
    std::swap(parts[i - 1], parts[below(i)]);
  return parts;
}

/// Some of `parts`, in random order.
inline std::vector<AxisRef> someOf(std::vector<AxisRef> parts) {
  std::vector<AxisRef> result;
  for (AxisRef part : parts)
    if (below(4) > 0)
      result.insert(result.begin() + below(result.size() + 1), part);
  return result;
}

inline AxisList axisList(const Mesh &mesh) {
  return AxisList(someOf(splitting(mesh)));
}

/// Deals `parts` out to `rank` dims, partial axes (if `allowPartial`) and no
/// use. The padded sizes are left at 0: see `pad`.
inline Layout unpadded(const std::vector<AxisRef> &parts, int64_t rank,
                       bool allowPartial) {
  Layout layout = Layout::replicated(std::vector<int64_t>(rank, 0));
  for (AxisRef part : someOf(parts)) {
    int64_t place = below(rank + allowPartial);
    if (place == rank)
      layout.partial.append(part);
    else
      layout.dims[place].append(part);
  }
  layout.partial = layout.partial.sorted();
  return layout;
}

/// Gives both layouts the same padded sizes, which all their axes divide.
inline void pad(Layout &a, Layout &b) {
  for (int64_t d = 0; d < a.rank(); ++d) {
    int64_t unit = std::lcm(a.dims[d].numShards(), b.dims[d].numShards());
    a.padded[d] = b.padded[d] = unit * (1 + below(2));
  }
}

/// All prefixes of `list` that end at a boundary of some sub-axis, the empty
/// one first and `list` last.
inline std::vector<AxisList> prefixes(const AxisList &list) {
  std::vector<AxisList> result = {AxisList()};
  AxisList whole;
  for (AxisRef axis : list) {
    for (int64_t size : divisors(axis.size)) {
      AxisList prefix = whole;
      prefix.append(AxisRef{axis.axis, axis.pre, size});
      if (size > 1)
        result.push_back(prefix);
    }
    whole.append(axis);
  }
  return result;
}

} // namespace shardonnay::gen

#endif // SHARDONNAY_ALGEBRA_GENERATORS_H
