//===- AxisRef.cpp --------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/AxisRef.h"
#include "shardonnay/support/Hash.h"
#include <algorithm>
#include <numeric>

namespace shardonnay {

bool AxisRef::contains(AxisRef other) const {
  return axis == other.axis && other.pre % pre == 0 && end() % other.end() == 0;
}

bool AxisRef::isPrefixOf(AxisRef other) const {
  return pre == other.pre && other.contains(*this);
}

bool AxisRef::isChain(AxisRef other) const {
  int64_t points[] = {pre, end(), other.pre, other.end()};
  std::sort(std::begin(points), std::end(points));
  return points[1] % points[0] == 0 && points[2] % points[1] == 0 &&
         points[3] % points[2] == 0;
}

std::optional<AxisRef> AxisRef::prefixWithoutOverlap(AxisRef other) const {
  if (!excludes(other))
    return *this;
  // What is left ends at or before `other`, at a boundary of this.
  int64_t limit = std::gcd(end(), other.pre);
  if (limit % pre != 0 || limit <= pre)
    return std::nullopt;
  return AxisRef{axis, pre, limit / pre};
}

std::optional<AxisRef> AxisRef::greatestCommonPrefix(AxisRef other) const {
  if (axis != other.axis || pre != other.pre)
    return std::nullopt;
  int64_t common = std::gcd(size, other.size);
  if (common == 1)
    return std::nullopt;
  return AxisRef{axis, pre, common};
}

llvm::SmallVector<AxisRef, 2> AxisRef::subtract(AxisRef other) const {
  if (!overlaps(other))
    return {*this};
  llvm::SmallVector<AxisRef, 2> parts;
  if (pre < other.pre)
    parts.push_back({axis, pre, other.pre / pre});
  if (other.end() < end())
    parts.push_back({axis, other.end(), end() / other.end()});
  return parts;
}

llvm::hash_code hash_value(AxisRef ref) {
  return mixed(mixed(ref.axis, ref.pre), ref.size);
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, AxisRef ref) {
  return os << ref.axis << ":(" << ref.pre << ")" << ref.size;
}

} // namespace shardonnay
