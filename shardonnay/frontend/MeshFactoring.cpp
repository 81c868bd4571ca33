//===- MeshFactoring.cpp - meshes for shardings without one ---------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/MeshFactoring.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

namespace shardonnay {

namespace {

/// Views `slab` as any x size x inner, and puts the entries of the middle dim
/// in the order of the smallest device of each.
void sortAlong(llvm::MutableArrayRef<int64_t> slab, int64_t size,
               int64_t inner) {
  auto at = [&](int64_t outer, int64_t index) {
    return slab.begin() + (outer * size + index) * inner;
  };
  int64_t outers = slab.size() / (size * inner);
  llvm::SmallVector<std::pair<int64_t, int64_t>> order;
  for (int64_t index = 0; index < size; ++index) {
    int64_t least = *at(0, index);
    for (int64_t outer = 0; outer < outers; ++outer)
      least = std::min(
          least, *std::min_element(at(outer, index), at(outer, index) + inner));
    order.emplace_back(least, index);
  }
  llvm::sort(order);
  std::vector<int64_t> sorted;
  for (int64_t outer = 0; outer < outers; ++outer)
    for (auto [least, index] : order)
      sorted.insert(sorted.end(), at(outer, index), at(outer, index) + inner);
  llvm::copy(sorted, slab.begin());
}

/// The tile array with the members of every subgroup in ascending order. Along
/// one tile dim all devices of a tile move alike, so that the groups of the
/// others stay what they are.
std::vector<int64_t> sortedTileArray(const HloSharding &sharding) {
  int64_t count = sharding.devices.size();
  std::vector<int64_t> array(count);
  for (int64_t place = 0; place < count; ++place)
    array[place] = sharding.devices.deviceAt(place);
  int64_t tile = count;
  for (int64_t tiles :
       llvm::ArrayRef(sharding.tiles).take_front(sharding.rank()))
    tile /= tiles;
  for (int64_t start = 0; start < count; start += tile) {
    int64_t inner = tile;
    for (int64_t size :
         llvm::ArrayRef(sharding.tiles).drop_front(sharding.rank())) {
      inner /= size;
      sortAlong({array.data() + start, static_cast<size_t>(tile)}, size, inner);
    }
  }
  return array;
}

bool divides(int64_t a, int64_t b) { return b % a == 0; }

/// The sizes of a mesh whose axes end at the members of `ends` that form a
/// chain with all others.
llvm::SmallVector<int64_t> axisSizes(llvm::ArrayRef<int64_t> ends) {
  llvm::SmallVector<int64_t> sizes;
  int64_t last = 1;
  for (int64_t end : ends) {
    bool inChain = llvm::all_of(ends, [&](int64_t other) {
      return divides(end, other) || divides(other, end);
    });
    if (!inChain || end == 1)
      continue;
    sizes.push_back(end / last);
    last = end;
  }
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

} // namespace

MeshFactoring::MeshFactoring(int64_t numDevices)
    : numDevices(numDevices), orders(1),
      ends(1, std::vector<int64_t>{1, numDevices}) {}

std::optional<MeshFactoring::Digits>
MeshFactoring::readIota(const HloSharding &sharding) {
  const DeviceOrder &devices = sharding.devices;
  // The digits of the place in the array, major to minor.
  Segments digits;
  for (int64_t dim : devices.permutation) {
    int64_t start = 1;
    for (int64_t size :
         llvm::ArrayRef<int64_t>(devices.reshape).drop_front(dim + 1))
      start *= size;
    Segment segment = {start, start * devices.reshape[dim]};
    if (!digits.empty() && digits.back().start == segment.end)
      digits.back().start = segment.start;
    else if (segment.start != segment.end)
      digits.push_back(segment);
  }
  Digits result;
  size_t next = 0;
  for (int64_t tiles : sharding.tiles) {
    Segments &segments = result.dims.emplace_back();
    while (tiles > 1) {
      Segment &digit = digits[next];
      int64_t size = digit.end / digit.start;
      int64_t taken = std::gcd(tiles, size);
      if (taken != tiles && taken != size)
        return std::nullopt;
      segments.push_back({digit.end / taken, digit.end});
      digit.end /= taken;
      tiles /= taken;
      next += digit.end == digit.start;
    }
  }
  // The order of a subgroup's members does not matter.
  for (Segments &segments :
       llvm::MutableArrayRef(result.dims).drop_front(sharding.rank()))
    llvm::sort(segments,
               [](Segment a, Segment b) { return a.start > b.start; });
  return result;
}

std::optional<MeshFactoring::Segments>
MeshFactoring::readLine(llvm::ArrayRef<int64_t> offsets) {
  Segments segments;
  // The first `block` offsets are read already.
  for (size_t block = 1; block < offsets.size();) {
    int64_t start = offsets[block];
    size_t count = 1;
    while (count * block < offsets.size() &&
           offsets[count * block] == start * static_cast<int64_t>(count))
      ++count;
    if (start < 1 || offsets.size() % (count * block) != 0)
      return std::nullopt;
    for (size_t i = block; i < count * block; ++i)
      if (offsets[i] != offsets[i % block] + offsets[i - i % block])
        return std::nullopt;
    segments.insert(segments.begin(),
                    {start, start * static_cast<int64_t>(count)});
    block *= count;
  }
  return segments;
}

std::optional<MeshFactoring::Digits>
MeshFactoring::readArray(llvm::ArrayRef<int64_t> tiles,
                         llvm::ArrayRef<int64_t> places) {
  if (places.front() != 0)
    return std::nullopt;
  Digits result;
  Segments all;
  std::vector<std::vector<int64_t>> lines;
  int64_t stride = places.size();
  for (int64_t size : tiles) {
    stride /= size;
    std::vector<int64_t> &line = lines.emplace_back();
    for (int64_t i = 0; i < size; ++i)
      line.push_back(places[i * stride]);
    std::optional<Segments> segments = readLine(line);
    if (!segments)
      return std::nullopt;
    llvm::append_range(all, *segments);
    result.dims.push_back(std::move(*segments));
  }
  // Do the segments together give every place once, in the array's order?
  llvm::sort(all, [](Segment a, Segment b) { return a.start < b.start; });
  int64_t end = 1;
  for (Segment segment : all) {
    if (segment.start != end)
      return std::nullopt;
    end = segment.end;
  }
  for (auto [index, place] : llvm::enumerate(places)) {
    int64_t rest = index, sum = 0;
    for (size_t dim = tiles.size(); dim-- > 0; rest /= tiles[dim])
      sum += lines[dim][rest % tiles[dim]];
    if (sum != place)
      return std::nullopt;
  }
  return result;
}

MeshFactoring::Digits MeshFactoring::read(const HloSharding &sharding) const {
  if (sharding.devices.isIota())
    if (std::optional<Digits> digits = readIota(sharding))
      return *digits;
  std::vector<int64_t> array = sortedTileArray(sharding);
  std::vector<int64_t> places = array;
  for (auto [index, order] : llvm::enumerate(orders)) {
    if (!order.empty()) {
      std::vector<int64_t> placeOf(numDevices);
      for (auto [place, device] : llvm::enumerate(order))
        placeOf[device] = place;
      llvm::transform(array, places.begin(),
                      [&](int64_t device) { return placeOf[device]; });
    }
    if (std::optional<Digits> digits = readArray(sharding.tiles, places)) {
      digits->order = index;
      return *digits;
    }
  }
  // A new order: along each tile dim, its own places.
  Digits digits;
  digits.order = orders.size();
  int64_t end = numDevices;
  for (int64_t size : sharding.tiles) {
    Segments &segments = digits.dims.emplace_back();
    if (size > 1)
      segments.push_back({end / size, end});
    end /= size;
  }
  return digits;
}

bool MeshFactoring::add(const HloSharding &sharding) {
  const DeviceOrder &devices = sharding.devices;
  if (devices.size() != numDevices ||
      llvm::any_of(devices.list,
                   [&](int64_t device) { return device >= numDevices; }))
    return false;
  Digits digits = read(sharding);
  if (digits.order == orders.size()) {
    orders.push_back(sortedTileArray(sharding));
    ends.push_back({1, numDevices});
  }
  for (auto [dim, segments] : llvm::enumerate(digits.dims)) {
    int64_t subgroup = static_cast<int64_t>(dim) - sharding.rank();
    if (subgroup >= 0 && sharding.subgroups[subgroup] == Subgroup::Replicated)
      continue;
    for (Segment segment : segments) {
      ends[digits.order].push_back(segment.start);
      ends[digits.order].push_back(segment.end);
    }
  }
  return true;
}

void MeshFactoring::finish() {
  for (auto [order, all] : llvm::zip_equal(orders, ends)) {
    llvm::sort(all);
    all.erase(llvm::unique(all), all.end());
    result.emplace_back(axisSizes(all), order);
  }
}

AxisList MeshFactoring::toAxes(const Segments &segments,
                               const Mesh &mesh) const {
  AxisList axes;
  for (Segment segment : segments) {
    // [start, end) is what stands for the axis at hand, from major to minor.
    int64_t end = numDevices;
    for (int64_t axis = 0; axis < mesh.numAxes(); ++axis) {
      int64_t start = end / mesh.axisSize(axis);
      int64_t lower = std::max(start, segment.start);
      int64_t upper = std::min(end, segment.end);
      if (lower < upper)
        axes.append(
            AxisRef{static_cast<int32_t>(axis), end / upper, upper / lower});
      end = start;
    }
  }
  return axes;
}

FactoredSharding MeshFactoring::get(const HloSharding &sharding,
                                    int64_t rank) const {
  FactoredSharding found;
  found.sharding = TensorSharding::fullyClosed(rank);
  if (sharding.kind != HloSharding::Kind::Tiled) {
    if (sharding.kind == HloSharding::Kind::Manual)
      found.manual = result.front().allAxes();
    if (sharding.kind == HloSharding::Kind::Unreduced)
      found.sharding.unreduced = result.front().allAxes();
    return found;
  }
  Digits digits = read(sharding);
  found.mesh = digits.order;
  for (auto [index, segments] : llvm::enumerate(digits.dims)) {
    AxisList axes = toAxes(segments, result[digits.order]);
    int64_t subgroup = static_cast<int64_t>(index) - sharding.rank();
    if (subgroup < 0)
      found.sharding.dims[index].axes = axes;
    else if (sharding.subgroups[subgroup] == Subgroup::Manual)
      found.manual.append(axes);
    else if (sharding.subgroups[subgroup] == Subgroup::Unreduced)
      found.sharding.unreduced.append(axes);
  }
  found.manual = found.manual.sorted();
  found.sharding.unreduced = found.sharding.unreduced.sorted();
  return found;
}

} // namespace shardonnay
