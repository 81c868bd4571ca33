//===- HloSharding.cpp - HLO's own form of a sharding ---------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/frontend/HloSharding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace shardonnay {

DeviceOrder DeviceOrder::iota(llvm::ArrayRef<int64_t> reshape,
                              llvm::ArrayRef<int64_t> permutation) {
  DeviceOrder result;
  result.reshape.assign(reshape.begin(), reshape.end());
  result.permutation.assign(permutation.begin(), permutation.end());
  return result;
}

int64_t DeviceOrder::size() const {
  return isIota() ? llvm::product_of(reshape)
                  : static_cast<int64_t>(list.size());
}

int64_t DeviceOrder::deviceAt(int64_t place) const {
  if (!isIota())
    return list[place];
  int64_t device = 0;
  for (int64_t dim : llvm::reverse(permutation)) {
    int64_t size = reshape[dim];
    device +=
        place % size *
        llvm::product_of(llvm::ArrayRef<int64_t>(reshape).drop_front(dim + 1));
    place /= size;
  }
  return device;
}

static llvm::StringRef toString(Subgroup subgroup) {
  switch (subgroup) {
  case Subgroup::Manual:
    return "manual";
  case Subgroup::Unreduced:
    return "unreduced";
  case Subgroup::Replicated:
    return "replicated";
  }
  llvm_unreachable("no such subgroup");
}

std::optional<llvm::SmallVector<Interval, 4>>
HloSharding::slice(llvm::ArrayRef<int64_t> shape, int64_t wanted) const {
  llvm::SmallVector<Interval, 4> all;
  for (int64_t size : shape)
    all.push_back({0, size});
  switch (kind) {
  case Kind::Replicated:
  case Kind::Unreduced:
    return all;
  case Kind::Maximal:
    if (wanted == device)
      return all;
    return std::nullopt;
  case Kind::Manual:
  case Kind::Unknown:
  case Kind::Tuple:
    return std::nullopt;
  case Kind::Tiled:
    break;
  }
  int64_t place = 0, count = devices.size();
  while (place < count && devices.deviceAt(place) != wanted)
    ++place;
  if (place == count)
    return std::nullopt;
  for (size_t dim = tiles.size(); dim-- > 0;) {
    int64_t index = place % tiles[dim];
    place /= tiles[dim];
    if (dim >= shape.size())
      continue;
    int64_t shard = (shape[dim] + tiles[dim] - 1) / tiles[dim];
    all[dim] = {std::min(index * shard, shape[dim]),
                std::min((index + 1) * shard, shape[dim])};
  }
  return all;
}

static void print(llvm::raw_ostream &os, llvm::ArrayRef<int64_t> numbers) {
  llvm::interleave(numbers, os, ",");
}

static void printTiled(llvm::raw_ostream &os, const HloSharding &sharding) {
  os << "devices=[";
  print(os, sharding.tiles);
  os << "]";
  const DeviceOrder &devices = sharding.devices;
  if (devices.isIota()) {
    os << "<=[";
    print(os, devices.reshape);
    os << "]";
    if (devices.permutation.size() > 1) {
      os << "T(";
      print(os, devices.permutation);
      os << ")";
    }
  } else {
    print(os, devices.list);
  }
  llvm::ArrayRef<Subgroup> subgroups = sharding.subgroups;
  if (subgroups.empty())
    return;
  if (subgroups.size() == 1 && subgroups.front() == Subgroup::Replicated) {
    os << " last_tile_dim_replicate";
    return;
  }
  os << " last_tile_dims={";
  llvm::interleaveComma(subgroups, os,
                        [&](Subgroup subgroup) { os << toString(subgroup); });
  os << "}";
}

static void printBody(llvm::raw_ostream &os, const HloSharding &sharding) {
  switch (sharding.kind) {
  case HloSharding::Kind::Replicated:
    os << "replicated";
    break;
  case HloSharding::Kind::Manual:
    os << "manual";
    break;
  case HloSharding::Kind::Unreduced:
    os << "unreduced";
    break;
  case HloSharding::Kind::Unknown:
    os << "unknown";
    break;
  case HloSharding::Kind::Maximal:
    os << "maximal device=" << sharding.device;
    break;
  case HloSharding::Kind::Tiled:
    printTiled(os, sharding);
    break;
  case HloSharding::Kind::Tuple:
    llvm::interleaveComma(sharding.elements, os);
    break;
  }
  if (sharding.groupKind != HloSharding::GroupKind::None)
    os << (sharding.groupKind == HloSharding::GroupKind::As ? " shard_as "
                                                            : " shard_like ")
       << sharding.group;
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const HloSharding &sharding) {
  os << "{";
  printBody(os, sharding);
  return os << "}";
}

std::string HloSharding::str() const {
  std::string text;
  llvm::raw_string_ostream(text) << *this;
  return text;
}

bool HloSharding::operator==(const HloSharding &o) const {
  return kind == o.kind && device == o.device && tiles == o.tiles &&
         subgroups == o.subgroups && devices == o.devices &&
         elements == o.elements && groupKind == o.groupKind && group == o.group;
}

} // namespace shardonnay
