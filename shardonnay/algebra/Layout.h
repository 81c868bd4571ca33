//===- Layout.h - which device has which slice of a tensor ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layout is (axes per dim, padded size per dim, partial axes with their
// kind). It *is* a map from positions of the mesh to slices of the padded
// tensor: position p holds, of dim d, the interval
//
//   [i * s, (i + 1) * s),   s = padded[d] / axes[d].numShards(),   i =
//   mesh.index(axes[d], p),
//
// and, where `partial` is not empty, one summand (maximand, minimand) of it:
// the tensor is the reduction over the positions that differ along `partial`
// only. Every law below is a statement about this map.
//
// Nesting is stated on the padded size. A dim of size 5 over x of size 4 pads
// to 8, shards of 2; over x:(1)2 alone and padded to 8 its shards of 4 are
// unions of those; padded to 6 they would not be, and a slice would move data.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_LAYOUT_H
#define SHARDONNAY_ALGEBRA_LAYOUT_H

#include "shardonnay/algebra/Mesh.h"
#include "shardonnay/algebra/TensorSharding.h"

namespace shardonnay {

/// Half-open interval of a dim.
struct Interval {
  int64_t start = 0;
  int64_t limit = 0;
  bool empty() const { return start >= limit; }
  bool operator==(const Interval &o) const {
    return start == o.start && limit == o.limit;
  }
};

struct Layout {
  llvm::SmallVector<AxisList, 4> dims;
  llvm::SmallVector<int64_t, 4> padded;
  /// In canonical order.
  AxisList partial;
  ReductionKind kind = ReductionKind::Sum;

  /// The layout of a tensor of `shape` under `sharding`, each dim padded to the
  /// next multiple of its number of shards.
  static Layout get(const TensorSharding &sharding,
                    llvm::ArrayRef<int64_t> shape);
  /// Everything everywhere.
  static Layout replicated(llvm::ArrayRef<int64_t> shape);

  int64_t rank() const { return dims.size(); }
  /// The shape that each position holds.
  llvm::SmallVector<int64_t, 4> localShape() const;
  int64_t localElements() const;
  /// What `position` holds of the padded tensor, an interval per dim.
  llvm::SmallVector<Interval, 4> slice(const Mesh &mesh,
                                       int64_t position) const;
  /// `slice` trimmed to `shape`: an empty interval has start = limit.
  llvm::SmallVector<Interval, 4> sliceOf(const Mesh &mesh, int64_t position,
                                         llvm::ArrayRef<int64_t> shape) const;
  /// All axes in use, dims and partial.
  AxisList usedAxes() const;
  /// The closed sharding that says the same (without the padding).
  TensorSharding toSharding() const;

  bool operator==(const Layout &o) const {
    return dims == o.dims && padded == o.padded && partial == o.partial &&
           (partial.empty() || kind == o.kind);
  }
  bool operator!=(const Layout &o) const { return !(*this == o); }
};

llvm::hash_code hash_value(const Layout &layout);

/// <8[0:(1)4] x 6[] partial=sum[1:(1)2]>
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Layout &layout);

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_LAYOUT_H
