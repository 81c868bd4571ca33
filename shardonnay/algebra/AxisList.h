//===- AxisList.h - an ordered list of axes ---------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The axes that shard one dimension, major to minor. The order is part of the
// meaning: the shard of a device is the number whose digits, major to minor,
// are its coordinates along the axes.
//
// A list is *canonical* if no neighbours can merge. Every operation here
// returns canonical lists. Elements of one list never exclude each other (an
// invariant that the callers keep).
//
// Worked example, on an axis x of size 8: [x:(1)2, x:(2)2] is the same map as
// [x:(1)4]; [x:(1)4] is a prefix of [x] and the rest of [x] after it is
// [x:(4)2].
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_AXISLIST_H
#define SHARDONNAY_ALGEBRA_AXISLIST_H

#include "shardonnay/algebra/AxisRef.h"
#include "llvm/ADT/ArrayRef.h"

namespace shardonnay {

/// Ordered, canonical, non-overlapping axes. A value.
class AxisList {
public:
  using iterator = const AxisRef *;
  AxisList() = default;
  AxisList(std::initializer_list<AxisRef> axes)
      : AxisList(llvm::ArrayRef<AxisRef>(axes)) {}
  explicit AxisList(llvm::ArrayRef<AxisRef> axes);

  iterator begin() const { return axes.begin(); }
  iterator end() const { return axes.end(); }
  bool empty() const { return axes.empty(); }
  size_t size() const { return axes.size(); }
  AxisRef operator[](size_t i) const { return axes[i]; }
  AxisRef back() const { return axes.back(); }
  llvm::ArrayRef<AxisRef> refs() const { return axes; }

  /// The number of shards: the product of the sizes, 1 for the empty list.
  int64_t numShards() const;

  /// Appends as the minor-most axis, merging it with the last one where that is
  /// possible.
  void append(AxisRef axis);
  void append(const AxisList &other);

  /// This is a major part of `other` (as maps: x:(1)2 is a prefix of x:(1)4),
  /// or all of it.
  bool isPrefixOf(const AxisList &other) const;
  /// What is left of this after its prefix `prefix`. Requires
  /// prefix.isPrefixOf(*this).
  AxisList dropPrefix(const AxisList &prefix) const;
  /// The longest list that is a prefix of both.
  AxisList commonPrefix(const AxisList &other) const;
  /// Some axis of this excludes `axis`, or some axis of `other`: no layout has
  /// both.
  bool excludes(AxisRef axis) const;
  bool excludes(const AxisList &other) const;
  /// Every part of `axis` is in this list (in however many parts).
  bool covers(AxisRef axis) const;
  /// The longest prefix that `other` does not exclude; may end in a sub-axis.
  AxisList prefixWithoutOverlap(const AxisList &other) const;
  /// The longest prefix whose number of shards divides `limit`; may end in a
  /// sub-axis of size gcd.
  AxisList prefixDividing(int64_t limit) const;
  /// The minor-most `shards` worth of this, and in `rest` what is major to it;
  /// nothing where no sub-axis boundary fits. `rest` may be null.
  std::optional<AxisList> suffixOfSize(int64_t shards, AxisList *rest) const;
  /// All parts that no axis of `other` covers, in this order. Requires that all
  /// coexist.
  AxisList subtract(const AxisList &other) const;
  /// The same set of axes in canonical order (by axis, then pre), merged: for
  /// replicated and unreduced lists.
  AxisList sorted() const;
  /// The same set of axes, in whatever order.
  bool sameSet(const AxisList &other) const {
    return sorted() == other.sorted();
  }

  bool operator==(const AxisList &o) const { return axes == o.axes; }
  bool operator!=(const AxisList &o) const { return axes != o.axes; }
  bool operator<(const AxisList &o) const;

private:
  llvm::SmallVector<AxisRef, 2> axes;
};

llvm::hash_code hash_value(const AxisList &list);

/// [0:(1)4, 1:(2)2]
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const AxisList &list);

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_AXISLIST_H
