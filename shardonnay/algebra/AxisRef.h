//===- AxisRef.h - a mesh axis or a part of one -----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// View a mesh axis of size n row-major as pre x size x post (pre * size * post
// = n). The sub-axis (pre)size is the middle part. A device whose coordinate
// along the whole axis is c has, along the sub-axis, the coordinate
//
//   (c / post) mod size,   post = n / (pre * size).
//
// The full axis is (1)n, and is not told apart from a sub-axis in any other
// way. The axis "y" of size 8 splits, for example, into y:(1)2, y:(2)2 and
// y:(4)2, major to minor.
//
// On one axis, a sub-axis is the interval [pre, pre * size] in the order of
// divisibility; containment, overlap, merging and subtraction are those of
// intervals. Two sub-axes *coexist* if some splitting of the axis has both as
// unions of its parts, that is if their four end points form a chain under
// divisibility: (1)2 and (1)3 of an axis of size 6 do not.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_AXISREF_H
#define SHARDONNAY_ALGEBRA_AXISREF_H

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

namespace shardonnay {

/// The sub-axis (pre)size of mesh axis number `axis`; the full axis is (1)n. A
/// value.
struct AxisRef {
  int32_t axis = 0;
  int64_t pre = 1;
  int64_t size = 1;

  /// Where the next minor sub-axis would start: pre * size.
  int64_t end() const { return pre * size; }

  /// Same axis and [other.pre, other.end] inside [pre, end]: a device's
  /// coordinate along this determines the one along `other`.
  bool contains(AxisRef other) const;
  /// `contains` and starts at the same place: this is the major part of `other`
  /// (or all of it).
  bool isPrefixOf(AxisRef other) const;
  /// Same axis, and the intervals have more than a boundary in common. Decided
  /// by magnitude, so that two that cannot coexist may overlap too ((1)2 and
  /// (1)3) or not ((1)2 and (3)2, of an axis of size 6).
  bool overlaps(AxisRef other) const {
    return axis == other.axis &&
           std::max(pre, other.pre) < std::min(end(), other.end());
  }
  /// Some splitting of the axis has both as unions of its parts. Always true on
  /// different axes.
  bool canCoexist(AxisRef other) const {
    return axis != other.axis || *this == other || isChain(other);
  }
  /// No layout has both.
  bool excludes(AxisRef other) const {
    return overlaps(other) || !canCoexist(other);
  }
  /// The longest major part of this that `other` does not exclude; nothing if
  /// that is empty.
  std::optional<AxisRef> prefixWithoutOverlap(AxisRef other) const;
  /// The largest major part that both have: same axis and pre, size = gcd of
  /// the sizes if > 1.
  std::optional<AxisRef> greatestCommonPrefix(AxisRef other) const;
  /// `next` starts where this ends, so [this, next] is one larger sub-axis.
  bool canMerge(AxisRef next) const {
    return axis == next.axis && end() == next.pre;
  }
  /// This and `next` as one. Requires canMerge(next).
  AxisRef merge(AxisRef next) const { return {axis, pre, size * next.size}; }
  /// The parts of this that `other` does not cover, major to minor: none, one
  /// or two. Requires canCoexist(other).
  llvm::SmallVector<AxisRef, 2> subtract(AxisRef other) const;

  bool operator==(const AxisRef &o) const {
    return axis == o.axis && pre == o.pre && size == o.size;
  }
  bool operator!=(const AxisRef &o) const { return !(*this == o); }
  /// By axis, then pre, then size: the canonical order of unordered lists.
  bool operator<(const AxisRef &o) const {
    return std::tie(axis, pre, size) < std::tie(o.axis, o.pre, o.size);
  }

private:
  /// The four end points are a chain under divisibility.
  bool isChain(AxisRef other) const;
};

llvm::hash_code hash_value(AxisRef ref);

/// The number of the axis and the part: 0:(1)4. A full axis is not known here
/// to be one.
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, AxisRef ref);

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_AXISREF_H
