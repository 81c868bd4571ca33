//===- FactorWindow.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/algebra/FactorWindow.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstdlib>

namespace shardonnay {

/// The windows from floor((p + low - extent) / stride) + 1 on reach positions
/// from p on. Their first ones do not stand as far apart from device to device
/// where the stride does not divide the shards: what is fetched does, and has
/// them in it.
static ShardWindow shardReaching(const FactorWindow &window, int64_t shards,
                                 int64_t localSize) {
  int64_t stride = window.stride;
  int64_t part = llvm::divideCeil(window.size, shards);
  auto first = [&](int64_t shard) {
    return llvm::divideFloorSigned(shard * part + window.low - window.extent,
                                   stride) +
           1;
  };
  ShardWindow sharded;
  sharded.localSize = localSize;
  bool isAligned = part % stride == 0;
  int64_t last = llvm::divideFloorSigned(window.low + part - 1, stride);
  int64_t count = isAligned ? std::max<int64_t>(last - first(0) + 1, 1)
                            : (part + window.extent - 2) / stride + 1;
  if (window.kind == WindowKind::Around) {
    sharded.globalSize = window.size;
    sharded.start =
        isAligned ? first(0) * stride - window.low : 1 - window.extent;
    sharded.step = part;
    sharded.size =
        (count - 1) * stride + window.extent + (isAligned ? 0 : stride - 1);
    return sharded;
  }
  sharded.globalSize = window.count;
  sharded.step = part / stride;
  sharded.start = first(0);
  int64_t most = sharded.start;
  for (int64_t shard = 1; shard < shards; ++shard) {
    sharded.start =
        std::min(sharded.start, first(shard) - sharded.step * shard);
    most = std::max(most, first(shard) - sharded.step * shard);
  }
  sharded.size = count + most - sharded.start;
  return sharded;
}

static ShardWindow shardResult(const FactorWindow &window, int64_t shards,
                               int64_t localSize) {
  ShardWindow sharded;
  sharded.localSize = localSize;
  sharded.globalSize = window.size;
  sharded.step = sharded.size = llvm::divideCeil(window.size, shards);
  return sharded;
}

/// How far the elements that a device fetches are from those of the device
/// before, where its windows are `step` further: a multiple of the dilation
/// that is near, and rather as far as shards are.
static int64_t elementsBetween(int64_t step, int64_t dilation,
                               int64_t localSize) {
  int64_t below = llvm::divideFloorSigned(step, dilation);
  int64_t twice = 2 * (step - below * dilation);
  return twice > dilation || (twice == dilation && below < localSize)
             ? below + 1
             : below;
}

/// `sharded`, but that the holes are filled before anything is sent. The device
/// of index 0 has its windows from position `first` on.
static ShardWindow fillFirst(ShardWindow sharded, int64_t first, int64_t step,
                             int64_t shards) {
  sharded.isDilatedFirst = true;
  sharded.localSize *= sharded.baseDilation;
  sharded.globalSize = sharded.localSize * shards;
  sharded.start = first;
  sharded.step = step;
  sharded.size = std::max<int64_t>(sharded.covered, 1);
  sharded.low = sharded.shift = sharded.shiftStart = 0;
  sharded.high = sharded.covered - sharded.size;
  sharded.baseDilation = 1;
  return sharded;
}

// A device's windows cover positions of the base from count * stride * i - low
// on. Where that is a multiple of the base dilation further from device to
// device, the elements among them are found at the same places.
ShardWindow shardWindow(const FactorWindow &window, int64_t shards,
                        int64_t localSize) {
  if (window.kind == WindowKind::Retiled)
    return shardResult(window, shards, localSize);
  if (window.kind != WindowKind::Seen)
    return shardReaching(window, shards, localSize);
  ShardWindow sharded;
  int64_t count = llvm::divideCeil(window.count, shards);
  int64_t step = count * window.stride;
  int64_t dilation = window.baseDilation;
  sharded.localSize = localSize;
  sharded.globalSize = window.size;
  sharded.baseDilation = dilation;
  sharded.covered =
      count == 0 ? 0 : (count - 1) * std::abs(window.stride) + window.extent;
  sharded.step = elementsBetween(step, dilation, localSize);
  sharded.shift = step - sharded.step * dilation;
  int64_t first = -window.low;
  if (window.stride < 0 && count > 0)
    first += (count - 1) * window.stride;
  int64_t drift = sharded.shift * (shards - 1);
  sharded.start =
      llvm::divideCeilSigned(first + std::min<int64_t>(drift, 0), dilation);
  // From the first element that is fetched to the window of the device.
  int64_t offset = first - sharded.start * dilation;
  int64_t end = offset + std::max<int64_t>(drift, 0) + sharded.covered;
  sharded.size = std::max<int64_t>(end - 1, 0) / dilation + 1;
  sharded.low = std::max<int64_t>(-offset - std::min<int64_t>(drift, 0), 0);
  sharded.high = end - ((sharded.size - 1) * dilation + 1);
  sharded.shiftStart = offset + sharded.low;
  // Over many devices the places drift apart, and all elements between them are
  // fetched by each.
  if (sharded.shift != 0 && sharded.covered < sharded.size)
    return fillFirst(sharded, first, step, shards);
  return sharded;
}

} // namespace shardonnay
