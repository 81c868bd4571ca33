//===- NearbyInfo.h - tables whose neighbours are neighbours ----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_SUPPORT_NEARBYINFO_H
#define SHARDONNAY_SUPPORT_NEARBYINFO_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMapInfo.h"
#include <cstdint>

namespace shardonnay {

/// For a llvm::DenseMap of all ops or values of a program. Those that are
/// together in memory are asked for together: those of a page get slots side by
/// side, so that a table that is larger than the cache is not waited for.
template <typename T> struct NearbyInfo : llvm::DenseMapInfo<T> {
  static unsigned getHashValue(const void *key) {
    auto address = reinterpret_cast<uintptr_t>(key);
    uint64_t page = (address / 4096 * 0x9E3779B97F4A7C15u) >> 32;
    return page * 32 + address / 128 % 32;
  }
  static unsigned getHashValue(mlir::Value key) {
    return getHashValue(key.getAsOpaquePointer());
  }
};

} // namespace shardonnay

#endif // SHARDONNAY_SUPPORT_NEARBYINFO_H
