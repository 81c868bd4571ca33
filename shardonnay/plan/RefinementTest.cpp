//===- RefinementTest.cpp -------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/Refinement.h"
#include "shardonnay/algebra/Generators.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

Layout sharded(AxisRef axis) {
  Layout layout = Layout::replicated({24});
  layout.dims[0] = {axis};
  return layout;
}

TEST(Refinement, workedExample) {
  Refinement atoms(sharded({0, 1, 4}), sharded({0, 1, 2}));
  ASSERT_EQ(atoms.size(), 2u);
  EXPECT_EQ(atoms[0], (AxisRef{0, 1, 2}));
  EXPECT_EQ(atoms[1], (AxisRef{0, 2, 2}));
  EXPECT_EQ(atoms.sourceAtoms({{0, 1, 4}}), (AtomList{0, 1}));
  EXPECT_EQ(atoms.numShards({0, 1}), 4);
  EXPECT_FALSE(atoms.exclude(0, 1));
}

TEST(Refinement, axesThatDoNotCoexistExcludeEachOther) {
  Refinement atoms(sharded({0, 1, 2}), sharded({0, 1, 3}));
  ASSERT_EQ(atoms.size(), 2u);
  EXPECT_TRUE(atoms.exclude(0, 1));
  EXPECT_TRUE(atoms.exclude(1, 0));
  EXPECT_FALSE(atoms.exclude(0, 0));
}

TEST(Refinement, partsGetFinerStepByStep) {
  // An axis of 8 beside one of 4.
  Layout source = sharded({0, 1, 8}), target = sharded({1, 1, 4});
  auto count = [&](Refinement::Parts parts) {
    return Refinement(source, target, parts).size();
  };
  EXPECT_EQ(count(Refinement::Parts::Coarse), 2u);
  EXPECT_EQ(count(Refinement::Parts::Fine), 5u);
  EXPECT_EQ(count(Refinement::Parts::Primes), 5u);
  // Nothing is common to 4 and 3.
  target = sharded({1, 1, 3});
  source = sharded({0, 1, 4});
  EXPECT_EQ(count(Refinement::Parts::Fine), 2u);
  EXPECT_EQ(count(Refinement::Parts::Primes), 3u);
}

RC_GTEST_PROP(Refinement, everyAxisIsARunOfAtoms, ()) {
  Mesh mesh = gen::mesh();
  Layout source = gen::unpadded(gen::splitting(mesh), 2, true);
  Layout target = gen::unpadded(gen::splitting(mesh), 2, true);
  Refinement atoms(source, target);
  auto check = [&](const AxisList &axes, const AtomList &list) {
    RC_ASSERT(atoms.toAxes(list) == axes);
    RC_ASSERT(atoms.numShards(list) == axes.numShards());
  };
  check(source.partial, atoms.sourceAtoms(source.partial));
  check(target.partial, atoms.targetAtoms(target.partial));
  for (size_t d = 0; d < 2; ++d) {
    check(source.dims[d], atoms.sourceAtoms(source.dims[d]));
    check(target.dims[d], atoms.targetAtoms(target.dims[d]));
  }
  // Atoms of one side never exclude each other, and where the two sides
  // coexist no atoms do.
  auto areFree = [&](const AtomList &list) {
    for (uint8_t a : list)
      for (uint8_t b : list)
        RC_ASSERT(!atoms.exclude(a, b));
  };
  areFree(atoms.sourceAtoms(source.usedAxes()));
  areFree(atoms.targetAtoms(target.usedAxes()));
}

/// A splitting has both sides: the atoms are among its unions, and are the
/// same from either side.
RC_GTEST_PROP(Refinement, sidesOfOneSplittingShareTheirAtoms, ()) {
  std::vector<AxisRef> parts = gen::splitting(gen::mesh());
  Layout source = gen::unpadded(parts, 2, false);
  Layout target = gen::unpadded(parts, 2, false);
  Refinement atoms(source, target);
  for (size_t a = 0; a < atoms.size(); ++a)
    for (size_t b = 0; b < atoms.size(); ++b)
      RC_ASSERT(!atoms.exclude(a, b));
  for (const AxisList &axes : source.dims)
    RC_ASSERT(atoms.sourceAtoms(axes) == atoms.targetAtoms(axes));
}

/// All of `axes`, as runs of parts that do not overlap.
RC_GTEST_PROP(Refinement, partsAreBetweenTheBoundariesOfAll, ()) {
  std::vector<AxisRef> splitting = gen::splitting(gen::mesh());
  Layout layout = gen::unpadded(splitting, 2, false);
  llvm::SmallVector<AxisRef> axes(layout.dims[0].refs()), parts;
  llvm::append_range(axes, gen::unpadded(splitting, 2, false).dims[0]);
  RC_ASSERT(splitAtBoundaries(axes, parts));
  for (AxisRef axis : axes) {
    int64_t size = 1;
    for (AxisRef part : parts) {
      RC_ASSERT(axis.contains(part) || !axis.overlaps(part));
      size *= axis.contains(part) ? part.size : 1;
    }
    RC_ASSERT(size == axis.size);
  }
}

TEST(Refinement, halvesAndThirdsHaveNoParts) {
  llvm::SmallVector<AxisRef> parts;
  EXPECT_FALSE(splitAtBoundaries({AxisRef{0, 1, 2}, AxisRef{0, 1, 3}}, parts));
  EXPECT_FALSE(splitAtBoundaries({AxisRef{0, 1, 2}, AxisRef{0, 3, 2}}, parts));
}

} // namespace
