//===- Projection.h - shardings seen through a factor rule ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Propagation and conflict resolution work on factors, not on dims. Projection
// hands each dim's axes, major to minor, to the dim's factors, major to minor:
//
//  * a factor takes axes while their product divides what is left of its size;
//  an axis that is too big is split by gcd;
//  * the minor-most factor of the dim takes all that remain, so only it can be
//  sharded unevenly;
//  * the first factor of a dim takes all axes if it would be left with some of
//  them and is retiled (Factor.h);
//  * where what is left of a factor and the next axis have no common part, the
//    rest of the dim's axes *overflow*: they are kept with the factor they
//    stopped at, count as used in every conflict check, and the next factor of
//    the dim is closed. (Those after it get nothing either: see below. Closing
//    them too would let them hold others back under the basic strategy, which
//    the existing passes do not do.)
//
// Back: the dim's axes are the factors' axes in order, stopping after the first
// factor that is not sharded completely (the sharding of a later factor would
// be a strided view) or its overflow; neighbours that can merge do. A dim is
// closed if any factor is, not counting those that an overflow closed.
//
// Worked example: 8 -> [i=2, j=4] over x of size 4: x:(1)2 to i, x:(2)2 to j.
// Over y of size 3: gcd(2, 3) = 1, so y is overflow at i and j is closed.
//
// Law: unproject(project(s)) = s.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ALGEBRA_PROJECTION_H
#define SHARDONNAY_ALGEBRA_PROJECTION_H

#include "shardonnay/algebra/Factor.h"
#include "shardonnay/algebra/TensorSharding.h"

namespace shardonnay {

/// One cell of the propagation table: tensor x factor.
struct FactorSharding {
  /// The tensor has this factor.
  bool present = false;
  bool closed = false;
  /// Last factor of its dim in this tensor: the only one that may be sharded
  /// unevenly.
  bool minorMost = false;
  AxisList axes;
  /// Axes of the dim that fit no factor from here on.
  AxisList overflow;

  bool operator==(const FactorSharding &o) const {
    return present == o.present && closed == o.closed &&
           minorMost == o.minorMost && axes == o.axes && overflow == o.overflow;
  }
};

/// One row: a tensor's sharding by factor. `factors` is indexed by factor id.
struct TensorProjection {
  llvm::SmallVector<FactorSharding, 6> factors;
  AxisList replicated;
  AxisList unreduced;

  bool operator==(const TensorProjection &o) const {
    return factors == o.factors && replicated == o.replicated &&
           unreduced == o.unreduced;
  }
};

/// The row of `sharding` under `mapping`. Requires one dim sharding per dim of
/// the mapping.
TensorProjection project(const TensorSharding &sharding,
                         const TensorMapping &mapping,
                         llvm::ArrayRef<Factor> factors);

/// The sharding of a row. Priorities and kind are taken from `previous`.
TensorSharding unproject(const TensorProjection &row,
                         const TensorMapping &mapping,
                         llvm::ArrayRef<Factor> factors,
                         const TensorSharding &previous);

} // namespace shardonnay

#endif // SHARDONNAY_ALGEBRA_PROJECTION_H
