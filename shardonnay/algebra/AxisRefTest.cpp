//===- AxisRefTest.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/Generators.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>

using namespace shardonnay;

namespace {

/// The coordinate along `a` is a function of the one along `b`.
bool determines(const Mesh &mesh, AxisRef b, AxisRef a) {
  std::map<int64_t, int64_t> seen;
  for (int64_t p = 0; p < mesh.numDevices(); ++p) {
    int64_t value = mesh.coordinate(a, p);
    if (seen.try_emplace(mesh.coordinate(b, p), value).first->second != value)
      return false;
  }
  return true;
}

/// How many pairs of coordinates occur.
int64_t numPairs(const Mesh &mesh, AxisRef a, AxisRef b) {
  std::set<std::pair<int64_t, int64_t>> pairs;
  for (int64_t p = 0; p < mesh.numDevices(); ++p)
    pairs.insert({mesh.coordinate(a, p), mesh.coordinate(b, p)});
  return pairs.size();
}

/// Some chain of divisors of the axis size, each dividing the next, has all of
/// `points`. `from` is the chain's last member so far.
bool someChainHas(int64_t size, int64_t from, std::set<int64_t> points) {
  points.erase(from);
  if (points.empty())
    return true;
  for (int64_t next : gen::divisors(size))
    if (next > from && next % from == 0 && someChainHas(size, next, points))
      return true;
  return false;
}

/// The larger of two optional parts of one axis.
void keepLonger(std::optional<AxisRef> &best, AxisRef other) {
  if (!best || other.size > best->size)
    best = other;
}

struct Pair {
  Mesh mesh;
  AxisRef a, b;
};

Pair drawPair() {
  Mesh mesh = gen::mesh();
  AxisRef a = gen::axisRef(mesh), b = gen::axisRef(mesh);
  RC_CLASSIFY(a.axis == b.axis, "same axis");
  RC_CLASSIFY(!a.canCoexist(b), "not coexisting");
  return {mesh, a, b};
}

RC_GTEST_PROP(AxisRef, containsIsDetermination, ()) {
  auto [mesh, a, b] = drawPair();
  RC_ASSERT(a.contains(b) == determines(mesh, a, b));
}

RC_GTEST_PROP(AxisRef, prefixIsMajorDigits, ()) {
  auto [mesh, a, b] = drawPair();
  bool expected = b.size % a.size == 0;
  for (int64_t p = 0; expected && p < mesh.numDevices(); ++p)
    expected =
        mesh.coordinate(b, p) / (b.size / a.size) == mesh.coordinate(a, p);
  RC_ASSERT(a.isPrefixOf(b) == expected);
}

RC_GTEST_PROP(AxisRef, coexistIffSomeSplittingHasBoth, ()) {
  auto [mesh, a, b] = drawPair();
  bool expected =
      a.axis != b.axis ||
      someChainHas(mesh.axisSize(a.axis), 1, {a.pre, a.end(), b.pre, b.end()});
  RC_ASSERT(a.canCoexist(b) == expected);
}

RC_GTEST_PROP(AxisRef, prefixWithoutOverlapIsLongest, ()) {
  auto [mesh, a, b] = drawPair();
  std::optional<AxisRef> prefix;
  for (int64_t size : gen::divisors(a.size)) {
    AxisRef front{a.axis, a.pre, size};
    if (size > 1 && !front.overlaps(b) && front.canCoexist(b))
      keepLonger(prefix, front);
  }
  RC_ASSERT(a.prefixWithoutOverlap(b) == prefix);
}

RC_GTEST_PROP(AxisRef, greatestCommonPrefixIsLongest, ()) {
  auto [mesh, a, b] = drawPair();
  std::optional<AxisRef> expected;
  for (int64_t size : gen::divisors(a.size)) {
    AxisRef front{a.axis, a.pre, size};
    if (size > 1 && front.isPrefixOf(b))
      keepLonger(expected, front);
  }
  RC_ASSERT(a.greatestCommonPrefix(b) == expected);
}

RC_GTEST_PROP(AxisRef, mergeConcatenatesDigits, ()) {
  Mesh mesh = gen::mesh();
  AxisRef whole = gen::axisRef(mesh);
  int64_t boundary = whole.pre * *rc::gen::elementOf(gen::divisors(whole.size));
  AxisRef a{whole.axis, whole.pre, boundary / whole.pre};
  AxisRef b{whole.axis, boundary, whole.end() / boundary};
  RC_ASSERT(a.canMerge(b));
  AxisRef merged = a.merge(b);
  for (int64_t p = 0; p < mesh.numDevices(); ++p)
    RC_ASSERT(mesh.coordinate(merged, p) ==
              mesh.coordinate(a, p) * b.size + mesh.coordinate(b, p));
}

RC_GTEST_PROP(AxisRef, subtractLeavesTheOtherDigits, ()) {
  auto [mesh, a, b] = drawPair();
  RC_PRE(a.canCoexist(b));
  int64_t left = 1;
  for (AxisRef part : a.subtract(b)) {
    RC_ASSERT(a.contains(part) && !part.overlaps(b));
    left *= part.size;
  }
  RC_ASSERT(left * b.size == numPairs(mesh, a, b));
}

TEST(AxisRef, subAxesOfSixDoNotCoexist) {
  AxisRef half{0, 1, 2}, third{0, 1, 3}, minorHalf{0, 3, 2};
  EXPECT_FALSE(half.canCoexist(third));
  EXPECT_TRUE(half.overlaps(third));
  EXPECT_FALSE(half.canCoexist(minorHalf));
  EXPECT_FALSE(half.overlaps(minorHalf));
  EXPECT_FALSE(half.prefixWithoutOverlap(minorHalf));
}

} // namespace
