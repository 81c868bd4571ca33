//===- Refinement.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/plan/Refinement.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

namespace shardonnay {

/// Inserts `point` where all of `chain` still divide their successors; false if
/// they would not.
static bool insertIfChain(llvm::SmallVectorImpl<int64_t> &chain,
                          int64_t point) {
  int64_t *at = llvm::lower_bound(chain, point);
  if (at != chain.end() && *at == point)
    return true;
  if (at != chain.begin() && point % *(at - 1) != 0)
    return false;
  if (at != chain.end() && *at % point != 0)
    return false;
  chain.insert(at, point);
  return true;
}

/// Calls `run` on the parts of `axis` between neighbouring borders.
static void forEachPart(AxisRef axis, llvm::ArrayRef<int64_t> borders,
                        llvm::function_ref<void(AxisRef)> run) {
  int64_t start = axis.pre;
  for (int64_t border : borders) {
    if (border <= start || border > axis.end())
      continue;
    run({axis.axis, start, border / start});
    start = border;
  }
}

bool splitAtBorders(llvm::ArrayRef<AxisRef> axes,
                    llvm::SmallVectorImpl<AxisRef> &parts) {
  for (AxisRef axis : axes) {
    if (llvm::is_contained(parts, axis))
      continue;
    llvm::SmallVector<int64_t, 8> borders;
    for (AxisRef other : axes)
      if (other.axis == axis.axis && !(insertIfChain(borders, other.pre) &&
                                       insertIfChain(borders, other.end())))
        return false;
    forEachPart(axis, borders, [&](AxisRef part) {
      if (!llvm::is_contained(parts, part))
        parts.push_back(part);
    });
  }
  return true;
}

AxisList spannedBy(llvm::ArrayRef<AxisRef> parts) {
  auto joins = [](AxisRef a, AxisRef b) {
    return a.overlaps(b) || !a.canCoexist(b);
  };
  llvm::SmallVector<AxisRef, 8> spans;
  for (AxisRef span : parts) {
    while (true) {
      auto *other = llvm::find_if(
          spans, [&](AxisRef known) { return joins(span, known); });
      if (other == spans.end())
        break;
      int64_t pre = std::gcd(span.pre, other->pre);
      span = {span.axis, pre, std::lcm(span.end(), other->end()) / pre};
      spans.erase(other);
    }
    spans.push_back(span);
  }
  return AxisList(spans).sorted();
}

Refinement::Refinement(const Layout &source, const Layout &target,
                       Parts parts) {
  auto addBorders = [](const Layout &layout, Borders &borders) {
    auto add = [&](const AxisList &axes) {
      for (AxisRef axis : axes) {
        if (borders.size() <= static_cast<size_t>(axis.axis))
          borders.resize(axis.axis + 1);
        insertIfChain(borders[axis.axis], axis.pre);
        insertIfChain(borders[axis.axis], axis.end());
      }
    };
    llvm::for_each(layout.dims, add);
    add(layout.partial);
  };
  addBorders(source, sourceBorders);
  addBorders(target, targetBorders);
  // Its own borders first, then what fits of the other side's.
  addBorders(target, sourceBorders);
  addBorders(source, targetBorders);
  do {
    atoms.clear();
    addAtoms(source.usedAxes(), sourceBorders);
    addAtoms(target.usedAxes(), targetBorders);
  } while (splitFurther(parts));
}

static int64_t smallestPrime(int64_t size) {
  int64_t prime = 2;
  while (size % prime != 0)
    ++prime;
  return prime;
}

bool Refinement::splitFurther(Parts parts) {
  if (parts == Parts::Coarse)
    return false;
  for (AxisRef atom : atoms) {
    if (parts == Parts::Primes && atom.size > 1 &&
        splitAt(atom, smallestPrime(atom.size)))
      return true;
    for (AxisRef other : atoms)
      if (splitAt(atom, std::gcd(atom.size, other.size)))
        return true;
  }
  return false;
}

bool Refinement::splitAt(AxisRef atom, int64_t divisor) {
  if (divisor == 1 || divisor == atom.size)
    return false;
  auto count = [&] {
    return sourceBorders[atom.axis].size() + targetBorders[atom.axis].size();
  };
  size_t before = count();
  insertIfChain(sourceBorders[atom.axis], atom.pre * divisor);
  insertIfChain(targetBorders[atom.axis], atom.pre * divisor);
  return count() > before;
}

void Refinement::addAtoms(const AxisList &axes, const Borders &borders) {
  for (AxisRef axis : axes)
    forEachPart(axis, borders[axis.axis], [&](AxisRef part) {
      if (!llvm::is_contained(atoms, part))
        atoms.push_back(part);
    });
}

AtomList Refinement::split(const AxisList &axes, const Borders &borders) const {
  AtomList list;
  for (AxisRef axis : axes)
    forEachPart(axis, borders[axis.axis], [&](AxisRef part) {
      list.push_back(llvm::find(atoms, part) - atoms.begin());
    });
  return list;
}

AxisList Refinement::toAxes(llvm::ArrayRef<uint8_t> list) const {
  AxisList axes;
  for (uint8_t atom : list)
    axes.append(atoms[atom]);
  return axes;
}

int64_t Refinement::numShards(llvm::ArrayRef<uint8_t> list) const {
  int64_t shards = 1;
  for (uint8_t atom : list)
    shards *= atoms[atom].size;
  return shards;
}

} // namespace shardonnay
