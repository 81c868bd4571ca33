//===- Refinement.h - the common parts of two layouts' axes -----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The atoms of a source and a target layout: the largest sub-axes such that
// every axis of either is a run of them. A plan moves atoms, never parts of
// one. With x of size 4 in the source and x:(1)2 in the target, the atoms are
// x:(1)2 and x:(2)2.
//
// A *fine* refinement also splits an atom at its greatest common divisor with
// another: of x of size 2 and y of size 4 it has y's halves, so that one of
// them can change places with x. One into *primes* splits every atom as far as
// it goes.
//
// Where the two sides split one mesh axis in ways that do not coexist (x:(1)2
// and x:(1)3 of 6), each side keeps atoms of its own there, refined by the
// other's boundaries as far as they fit, and atoms of different sides *exclude*
// each other: no layout has both.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PLAN_REFINEMENT_H
#define SHARDONNAY_PLAN_REFINEMENT_H

#include "shardonnay/algebra/Layout.h"

namespace shardonnay {

/// Atoms named by their place in the list, major to minor.
using AtomList = llvm::SmallVector<uint8_t, 6>;

/// Adds to `parts` those of each of `axes` between the boundaries of all. False
/// if these do not divide each other: then some of `axes` do not coexist.
bool splitAtBoundaries(llvm::ArrayRef<AxisRef> axes,
                       llvm::SmallVectorImpl<AxisRef> &parts);

/// The axes that devices differ along where they differ along any of `parts`,
/// in canonical order. The parts may overlap, or not coexist: the span is then
/// all that is between their boundaries.
AxisList spannedBy(llvm::ArrayRef<AxisRef> parts);

class Refinement {
public:
  enum class Parts { Coarse, Fine, Primes };
  Refinement(const Layout &source, const Layout &target,
             Parts parts = Parts::Coarse);

  size_t size() const { return atoms.size(); }
  AxisRef operator[](size_t atom) const { return atoms[atom]; }
  /// The atoms of a list of axes of the source, or of the target.
  AtomList sourceAtoms(const AxisList &axes) const {
    return split(axes, sourceBoundaries);
  }
  AtomList targetAtoms(const AxisList &axes) const {
    return split(axes, targetBoundaries);
  }
  AxisList toAxes(llvm::ArrayRef<uint8_t> list) const;
  int64_t numShards(llvm::ArrayRef<uint8_t> list) const;
  /// No layout has both.
  bool exclude(size_t a, size_t b) const {
    return a != b && atoms[a].excludes(atoms[b]);
  }

private:
  /// By mesh axis, ascending, each dividing the next.
  using Boundaries = llvm::SmallVector<llvm::SmallVector<int64_t, 4>, 4>;

  AtomList split(const AxisList &axes, const Boundaries &boundaries) const;
  void addAtoms(const AxisList &axes, const Boundaries &boundaries);
  /// Adds boundaries of a finer refinement; false if there are no more.
  bool splitFurther(Parts parts);
  bool splitAt(AxisRef atom, int64_t divisor);

  llvm::SmallVector<AxisRef, 8> atoms;
  Boundaries sourceBoundaries, targetBoundaries;
};

} // namespace shardonnay

#endif // SHARDONNAY_PLAN_REFINEMENT_H
