//===- Generators.h - random HLO shardings for tests ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_GENERATORS_H
#define SHARDONNAY_FRONTEND_GENERATORS_H

#include "shardonnay/algebra/Generators.h"
#include "shardonnay/frontend/HloSharding.h"

namespace shardonnay::gen {

/// One factorisation of `n` into `count` numbers.
inline llvm::SmallVector<int64_t, 4> factors(int64_t n, int64_t count) {
  llvm::SmallVector<int64_t, 4> result;
  for (; count > 1; --count) {
    std::vector<int64_t> all = divisors(n);
    result.push_back(all[below(all.size())]);
    n /= result.back();
  }
  result.push_back(n);
  return result;
}

template <typename Vector> void shuffle(Vector &values) {
  for (size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[below(i)]);
}

/// An iota of any shape and transposition, or any list of the devices.
inline DeviceOrder deviceOrder(int64_t numDevices) {
  if (below(4) == 0) {
    DeviceOrder order;
    for (int64_t device = 0; device < numDevices; ++device)
      order.list.push_back(device);
    shuffle(order.list);
    return order;
  }
  llvm::SmallVector<int64_t, 4> reshape = factors(numDevices, 1 + below(4));
  llvm::SmallVector<int64_t, 4> permutation;
  for (size_t dim = 0; dim < reshape.size(); ++dim)
    permutation.push_back(dim);
  shuffle(permutation);
  DeviceOrder order = DeviceOrder::iota(reshape, permutation);
  if (below(3) > 0)
    return order;
  DeviceOrder listed;
  for (int64_t place = 0; place < numDevices; ++place)
    listed.list.push_back(order.deviceAt(place));
  return listed;
}

inline HloSharding tiledSharding(int64_t numDevices, int64_t rank) {
  HloSharding sharding = HloSharding::of(HloSharding::Kind::Tiled);
  int64_t subgroups = below(3);
  sharding.tiles = factors(numDevices, rank + subgroups);
  for (int64_t i = 0; i < subgroups; ++i)
    sharding.subgroups.push_back(static_cast<Subgroup>(below(3)));
  // Without a subgroup every device has a tile of its own.
  sharding.devices = deviceOrder(numDevices);
  return sharding;
}

} // namespace shardonnay::gen

#endif // SHARDONNAY_FRONTEND_GENERATORS_H
