//===- ManualBoundary.h - one sharding seen from two sides ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inside a manual computation a tensor is what one device holds along the
// manual axes, so its sharding there does not mention them. Outside, the same
// tensor is whole, and the manual axes stand before all others in each dim:
//
//   outside: [{m, f}, {}] replicated={n}     inside: [{f}, {}]
//
// for the manual axes m (which shards dim 0) and n (which shards nothing), and
// the free axis f. Laws: toInner(toOuter(s)) = s for each s without manual
// axes; toOuter(toInner(s)) = s for each s of which `isOutside(s)` is true.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_MANUALBOUNDARY_H
#define SHARDONNAY_ALGEBRA_MANUALBOUNDARY_H

#include "shardonnay/algebra/TensorSharding.h"

namespace shardonnay {

/// Where the manual axes of one operand or result of a manual computation
/// stand in its outer sharding.
class ManualBoundary {
public:
  /// Splits an outer sharding by all manual axes. In each dim of `outer` the
  /// manual axes come first; those in no dim and not unreduced are replicated.
  static ManualBoundary get(const TensorSharding &outer,
                            const AxisList &manual);

  /// The manual axes stand in `outer` where they stood in the sharding that
  /// made this.
  bool isOutside(const TensorSharding &outer) const;
  TensorSharding toOuter(const TensorSharding &inner) const;
  /// Requires isOutside(outer).
  TensorSharding toInner(const TensorSharding &outer) const;

  bool operator==(const ManualBoundary &o) const {
    return dims == o.dims && replicated == o.replicated &&
           unreduced == o.unreduced && kind == o.kind;
  }

private:
  llvm::SmallVector<AxisList, 4> dims;
  AxisList replicated;
  AxisList unreduced;
  ReductionKind kind = ReductionKind::Sum;
};

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_MANUALBOUNDARY_H
