//===- AxisListTest.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/Generators.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace shardonnay;

namespace {

/// The shard of every device under `a` is the major digits of that under `b`.
bool isMapPrefix(const Mesh &mesh, const AxisList &a, const AxisList &b) {
  if (b.numShards() % a.numShards() != 0)
    return false;
  int64_t ratio = b.numShards() / a.numShards();
  for (int64_t p = 0; p < mesh.numDevices(); ++p)
    if (mesh.index(a, p) != mesh.index(b, p) / ratio)
      return false;
  return true;
}

/// The longest of the prefixes of `list` that `accepts` likes.
AxisList longestPrefix(const AxisList &list,
                       llvm::function_ref<bool(const AxisList &)> accepts) {
  AxisList best;
  for (const AxisList &prefix : gen::prefixes(list))
    if (prefix.numShards() > best.numShards() && accepts(prefix))
      best = prefix;
  return best;
}

bool isCanonical(const AxisList &list) {
  for (size_t i = 1; i < list.size(); ++i)
    if (list[i - 1].canMerge(list[i]))
      return false;
  return true;
}

/// Two lists that share a prefix often enough.
std::pair<AxisList, AxisList> drawRelated(const Mesh &mesh) {
  AxisList a = gen::axisList(mesh);
  if (*rc::gen::arbitrary<bool>())
    return {a, gen::axisList(mesh)};
  AxisList b = *rc::gen::elementOf(gen::prefixes(a));
  for (AxisRef part : gen::splitting(mesh))
    if (!b.excludes(part) && *rc::gen::arbitrary<bool>())
      b.append(part);
  return {a, b};
}

RC_GTEST_PROP(AxisList, canonicalFormKeepsTheMap, ()) {
  Mesh mesh = gen::mesh();
  std::vector<AxisRef> parts = gen::someOf(gen::splitting(mesh));
  AxisList list(parts);
  RC_ASSERT(isCanonical(list));
  for (int64_t p = 0; p < mesh.numDevices(); ++p) {
    int64_t index = 0;
    for (AxisRef part : parts)
      index = index * part.size + mesh.coordinate(part, p);
    RC_ASSERT(mesh.index(list, p) == index);
  }
}

RC_GTEST_PROP(AxisList, isPrefixOfIsMapPrefix, ()) {
  Mesh mesh = gen::mesh();
  auto [a, b] = drawRelated(mesh);
  RC_CLASSIFY(a.isPrefixOf(b) && !a.empty(), "prefix");
  RC_ASSERT(a.isPrefixOf(b) == isMapPrefix(mesh, a, b));
  RC_ASSERT(b.isPrefixOf(a) == isMapPrefix(mesh, b, a));
}

RC_GTEST_PROP(AxisList, dropPrefixLeavesTheRest, ()) {
  AxisList list = gen::axisList(gen::mesh());
  for (const AxisList &prefix : gen::prefixes(list)) {
    AxisList joined = prefix;
    joined.append(list.dropPrefix(prefix));
    RC_ASSERT(joined == list);
  }
}

RC_GTEST_PROP(AxisList, commonPrefixIsLongest, ()) {
  Mesh mesh = gen::mesh();
  auto [a, b] = drawRelated(mesh);
  const AxisList &other = b;
  RC_ASSERT(a.commonPrefix(b) == longestPrefix(a, [&](const AxisList &prefix) {
              return isMapPrefix(mesh, prefix, other);
            }));
}

RC_GTEST_PROP(AxisList, prefixWithoutOverlapIsLongest, ()) {
  Mesh mesh = gen::mesh();
  AxisList a = gen::axisList(mesh), b = gen::axisList(mesh);
  AxisList expected = longestPrefix(a, [&](const AxisList &prefix) {
    return llvm::all_of(prefix, [&](AxisRef mine) {
      return llvm::all_of(b, [&](AxisRef other) {
        return !mine.overlaps(other) && mine.canCoexist(other);
      });
    });
  });
  RC_ASSERT(a.prefixWithoutOverlap(b) == expected);
}

RC_GTEST_PROP(AxisList, prefixDividingIsLongest, ()) {
  AxisList list = gen::axisList(gen::mesh());
  int64_t limit = 1 + gen::below(49);
  RC_ASSERT(list.prefixDividing(limit) ==
            longestPrefix(list, [&](const AxisList &prefix) {
              return limit % prefix.numShards() == 0;
            }));
}

RC_GTEST_PROP(AxisList, suffixOfSizeSplitsWhereItCan, ()) {
  AxisList list = gen::axisList(gen::mesh());
  int64_t shards = 1 + gen::below(29);
  AxisList rest;
  std::optional<AxisList> suffix = list.suffixOfSize(shards, &rest);
  bool possible =
      llvm::any_of(gen::prefixes(list), [&](const AxisList &prefix) {
        return prefix.numShards() * shards == list.numShards();
      });
  RC_ASSERT(suffix.has_value() == possible);
  if (!suffix)
    return;
  RC_ASSERT(suffix->numShards() == shards);
  rest.append(*suffix);
  RC_ASSERT(rest == list);
}

RC_GTEST_PROP(AxisList, setOperationsWorkOnParts, ()) {
  Mesh mesh = gen::mesh();
  std::vector<AxisRef> all = gen::splitting(mesh);
  std::vector<AxisRef> a = gen::someOf(all), b = gen::someOf(all);
  AxisList listA(a), listB(b);
  llvm::SmallVector<AxisRef> difference;
  for (AxisRef part : all)
    RC_ASSERT(listA.covers(part) == llvm::is_contained(a, part));
  for (AxisRef part : a)
    if (!llvm::is_contained(b, part))
      difference.push_back(part);
  RC_ASSERT(listA.subtract(listB) == AxisList(difference));
  RC_ASSERT(listA.excludes(listB) == (difference.size() < a.size()));

  std::vector<AxisRef> other = a;
  std::reverse(other.begin(), other.end());
  RC_ASSERT(listA.sameSet(AxisList(other)));
  RC_ASSERT(listA.sameSet(listB) ==
            (difference.empty() && a.size() == b.size()));
  RC_ASSERT(isCanonical(listA.sorted()));
}

TEST(AxisList, workedExample) {
  AxisList split = {{0, 1, 2}, {0, 2, 2}};
  EXPECT_EQ(split, (AxisList{{0, 1, 4}}));
  AxisList full = {{0, 1, 8}};
  EXPECT_TRUE(split.isPrefixOf(full));
  EXPECT_EQ(full.dropPrefix(split), (AxisList{{0, 4, 2}}));
}

TEST(AxisList, coversAcrossSubAxes) {
  AxisList parts = {{0, 2, 2}, {1, 1, 3}, {0, 1, 2}};
  EXPECT_TRUE(parts.covers({0, 1, 4}));
  EXPECT_FALSE(parts.covers({0, 1, 8}));
  EXPECT_FALSE((AxisList{{0, 1, 3}}).covers({0, 1, 2}));
}

TEST(AxisList, prints) {
  std::string text;
  llvm::raw_string_ostream(text) << AxisList{{0, 1, 4}, {1, 2, 2}};
  EXPECT_EQ(text, "[0:(1)4, 1:(2)2]");
}

} // namespace
