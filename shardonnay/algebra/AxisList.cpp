//===- AxisList.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/AxisList.h"
#include "shardonnay/support/Hash.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

namespace shardonnay {

AxisList::AxisList(llvm::ArrayRef<AxisRef> axes) {
  this->axes.reserve(axes.size());
  for (AxisRef axis : axes)
    append(axis);
}

int64_t AxisList::numShards() const {
  int64_t shards = 1;
  for (AxisRef axis : axes)
    shards *= axis.size;
  return shards;
}

void AxisList::append(AxisRef axis) {
  if (!axes.empty() && axes.back().canMerge(axis))
    axes.back() = axes.back().merge(axis);
  else
    axes.push_back(axis);
}

void AxisList::append(const AxisList &other) {
  for (AxisRef axis : other)
    append(axis);
}

bool AxisList::isPrefixOf(const AxisList &other) const {
  if (size() > other.size())
    return false;
  for (size_t i = 0; i < size(); ++i) {
    if (axes[i] == other[i])
      continue;
    // Only the last one may stop short: canonical neighbours do not merge, so
    // what follows it here is not what follows it there.
    return i + 1 == size() && axes[i].isPrefixOf(other[i]);
  }
  return true;
}

AxisList AxisList::dropPrefix(const AxisList &prefix) const {
  AxisList rest;
  size_t first = prefix.size();
  if (!prefix.empty() && prefix.back() != axes[first - 1]) {
    AxisRef whole = axes[first - 1];
    rest.append(AxisRef{whole.axis, prefix.back().end(),
                        whole.end() / prefix.back().end()});
  }
  for (size_t i = first; i < size(); ++i)
    rest.append(axes[i]);
  return rest;
}

AxisList AxisList::commonPrefix(const AxisList &other) const {
  AxisList prefix;
  for (size_t i = 0; i < std::min(size(), other.size()); ++i) {
    if (axes[i] == other[i]) {
      prefix.append(axes[i]);
      continue;
    }
    if (std::optional<AxisRef> part = axes[i].greatestCommonPrefix(other[i]))
      prefix.append(*part);
    break;
  }
  return prefix;
}

bool AxisList::excludes(AxisRef axis) const {
  return llvm::any_of(axes, [&](AxisRef a) { return a.excludes(axis); });
}

bool AxisList::excludes(const AxisList &other) const {
  return llvm::any_of(axes, [&](AxisRef a) { return other.excludes(a); });
}

bool AxisList::covers(AxisRef axis) const {
  llvm::SmallVector<AxisRef, 4> left = {axis};
  for (AxisRef mine : axes) {
    llvm::SmallVector<AxisRef, 4> next;
    for (AxisRef part : left) {
      if (mine.canCoexist(part))
        llvm::append_range(next, part.subtract(mine));
      else
        next.push_back(part);
    }
    left = std::move(next);
  }
  return left.empty();
}

AxisList AxisList::prefixWithoutOverlap(const AxisList &other) const {
  AxisList prefix;
  for (AxisRef axis : axes) {
    AxisRef kept = axis;
    for (AxisRef obstacle : other) {
      std::optional<AxisRef> part = kept.prefixWithoutOverlap(obstacle);
      if (!part)
        return prefix;
      kept = *part;
    }
    prefix.append(kept);
    if (kept != axis)
      break;
  }
  return prefix;
}

AxisList AxisList::prefixDividing(int64_t limit) const {
  AxisList prefix;
  for (AxisRef axis : axes) {
    int64_t common = std::gcd(axis.size, limit);
    if (common == axis.size) {
      prefix.append(axis);
      limit /= common;
      continue;
    }
    if (common > 1)
      prefix.append(AxisRef{axis.axis, axis.pre, common});
    break;
  }
  return prefix;
}

std::optional<AxisList> AxisList::suffixOfSize(int64_t shards,
                                               AxisList *rest) const {
  size_t first = size();
  while (first > 0 && shards % axes[first - 1].size == 0)
    shards /= axes[--first].size;
  AxisList major(refs().take_front(first));
  AxisList suffix(refs().drop_front(first));
  if (shards > 1) {
    if (first == 0 || axes[first - 1].size % shards != 0)
      return std::nullopt;
    AxisRef split = axes[first - 1];
    int64_t boundary = split.end() / shards;
    major = AxisList(refs().take_front(first - 1));
    major.append(AxisRef{split.axis, split.pre, boundary / split.pre});
    AxisList minor{AxisRef{split.axis, boundary, shards}};
    minor.append(suffix);
    suffix = std::move(minor);
  }
  if (rest)
    *rest = std::move(major);
  return suffix;
}

AxisList AxisList::subtract(const AxisList &other) const {
  AxisList result;
  for (AxisRef axis : axes) {
    llvm::SmallVector<AxisRef, 4> left = {axis};
    for (AxisRef taken : other) {
      llvm::SmallVector<AxisRef, 4> next;
      for (AxisRef part : left)
        llvm::append_range(next, part.subtract(taken));
      left = std::move(next);
    }
    for (AxisRef part : left)
      result.append(part);
  }
  return result;
}

AxisList AxisList::sorted() const {
  llvm::SmallVector<AxisRef> ordered(axes.begin(), axes.end());
  llvm::sort(ordered);
  return AxisList(ordered);
}

bool AxisList::operator<(const AxisList &o) const {
  return std::lexicographical_compare(begin(), end(), o.begin(), o.end());
}

llvm::hash_code hash_value(const AxisList &list) {
  size_t hash = list.size();
  for (AxisRef axis : list)
    hash = mixed(mixed(mixed(hash, axis.axis), axis.pre), axis.size);
  return hash;
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const AxisList &list) {
  os << "[";
  llvm::interleaveComma(list, os);
  return os << "]";
}

} // namespace shardonnay
