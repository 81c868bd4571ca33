//===- TensorSharding.h - what is known of a tensor's sharding --*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sharding states which axes shard each dimension, and what may still change:
// an open dimension may get more axes, a closed one may not, a `replicated`
// axis must not be used, a dimension's `priority` (0 first) says in which round
// its axes take part in propagation. Axes that are named nowhere are replicated
// for now. `unreduced` axes hold partial values: the tensor is the
// `kind`-reduction over them. The definite form, without openness, is a Layout.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_TENSORSHARDING_H
#define SHARDONNAY_ALGEBRA_TENSORSHARDING_H

#include "shardonnay/algebra/AxisList.h"
#include "shardonnay/algebra/Reduction.h"

namespace shardonnay {

struct DimSharding {
  AxisList axes;
  bool closed = false;
  /// 0 is the highest.
  int64_t priority = 0;

  bool operator==(const DimSharding &o) const {
    return axes == o.axes && closed == o.closed && priority == o.priority;
  }
  bool operator!=(const DimSharding &o) const { return !(*this == o); }
};

struct TensorSharding {
  llvm::SmallVector<DimSharding, 4> dims;
  /// In canonical order (AxisList::sorted).
  AxisList replicated;
  /// In canonical order.
  AxisList unreduced;
  /// Meaningful if `unreduced` is not empty; Sum otherwise.
  ReductionKind kind = ReductionKind::Sum;

  /// No axes, every dimension open: what a tensor without the attribute has.
  static TensorSharding fullyOpen(int64_t rank);
  /// No axes, every dimension closed.
  static TensorSharding fullyClosed(int64_t rank);
  /// No axis anywhere but in `replicated`.
  bool isReplicated() const;
  /// `axis` or a part of it is used: in a dimension, replicated or unreduced.
  bool uses(AxisRef axis) const;

  bool operator==(const TensorSharding &o) const {
    return dims == o.dims && replicated == o.replicated &&
           unreduced == o.unreduced && kind == o.kind;
  }
  bool operator!=(const TensorSharding &o) const { return !(*this == o); }
};

/// Some dim of two shardings of equal rank has other axes.
bool axesDiffer(const TensorSharding &a, const TensorSharding &b);

llvm::hash_code hash_value(const TensorSharding &sharding);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const TensorSharding &s);

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_TENSORSHARDING_H
