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

/// Calls `run` on the parts of `axis` between neighbouring boundaries.
static void forEachPart(AxisRef axis, llvm::ArrayRef<int64_t> boundaries,
                        llvm::function_ref<void(AxisRef)> run) {
  int64_t start = axis.pre;
  for (int64_t boundary : boundaries) {
    if (boundary <= start || boundary > axis.end())
      continue;
    run({axis.axis, start, boundary / start});
    start = boundary;
  }
}

bool splitAtBoundaries(llvm::ArrayRef<AxisRef> axes,
                       llvm::SmallVectorImpl<AxisRef> &parts) {
  for (AxisRef axis : axes) {
    if (llvm::is_contained(parts, axis))
      continue;
    llvm::SmallVector<int64_t, 8> boundaries;
    for (AxisRef other : axes)
      if (other.axis == axis.axis && !(insertIfChain(boundaries, other.pre) &&
                                       insertIfChain(boundaries, other.end())))
        return false;
    forEachPart(axis, boundaries, [&](AxisRef part) {
      if (!llvm::is_contained(parts, part))
        parts.push_back(part);
    });
  }
  return true;
}

AxisList spannedBy(llvm::ArrayRef<AxisRef> parts) {
  llvm::SmallVector<AxisRef, 8> spans;
  for (AxisRef span : parts) {
    while (true) {
      auto *other = llvm::find_if(
          spans, [&](AxisRef known) { return span.excludes(known); });
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
  auto addBoundaries = [](const Layout &layout, Boundaries &boundaries) {
    auto add = [&](const AxisList &axes) {
      for (AxisRef axis : axes) {
        if (boundaries.size() <= static_cast<size_t>(axis.axis))
          boundaries.resize(axis.axis + 1);
        insertIfChain(boundaries[axis.axis], axis.pre);
        insertIfChain(boundaries[axis.axis], axis.end());
      }
    };
    llvm::for_each(layout.dims, add);
    add(layout.partial);
  };
  addBoundaries(source, sourceBoundaries);
  addBoundaries(target, targetBoundaries);
  // Its own boundaries first, then what fits of the other side's.
  addBoundaries(target, sourceBoundaries);
  addBoundaries(source, targetBoundaries);
  const AxisList ofSource = source.usedAxes(), ofTarget = target.usedAxes();
  do {
    atoms.clear();
    addAtoms(ofSource, sourceBoundaries);
    addAtoms(ofTarget, targetBoundaries);
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
    return sourceBoundaries[atom.axis].size() +
           targetBoundaries[atom.axis].size();
  };
  size_t before = count();
  insertIfChain(sourceBoundaries[atom.axis], atom.pre * divisor);
  insertIfChain(targetBoundaries[atom.axis], atom.pre * divisor);
  return count() > before;
}

void Refinement::addAtoms(const AxisList &axes, const Boundaries &boundaries) {
  for (AxisRef axis : axes)
    forEachPart(axis, boundaries[axis.axis], [&](AxisRef part) {
      if (!llvm::is_contained(atoms, part))
        atoms.push_back(part);
    });
}

AtomList Refinement::split(const AxisList &axes,
                           const Boundaries &boundaries) const {
  AtomList list;
  for (AxisRef axis : axes)
    forEachPart(axis, boundaries[axis.axis], [&](AxisRef part) {
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
