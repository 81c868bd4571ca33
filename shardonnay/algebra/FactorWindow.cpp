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
/// from p on. Their first ones do not lie as far apart from device to device
/// where the stride does not divide the pieces: what is fetched does, and has
/// them in it.
static ShardWindow shardReaching(const FactorWindow &window, int64_t shards,
                                 int64_t localSize) {
  int64_t stride = window.stride;
  int64_t piece = llvm::divideCeil(window.size, shards);
  auto first = [&](int64_t shard) {
    return llvm::divideFloorSigned(shard * piece + window.low - window.extent,
                                   stride) +
           1;
  };
  ShardWindow cut;
  cut.localSize = localSize;
  bool isAligned = piece % stride == 0;
  int64_t last = llvm::divideFloorSigned(window.low + piece - 1, stride);
  int64_t count = isAligned ? std::max<int64_t>(last - first(0) + 1, 1)
                            : (piece + window.extent - 2) / stride + 1;
  if (window.kind == WindowKind::Around) {
    cut.globalSize = window.size;
    cut.start = isAligned ? first(0) * stride - window.low : 1 - window.extent;
    cut.step = piece;
    cut.size =
        (count - 1) * stride + window.extent + (isAligned ? 0 : stride - 1);
    return cut;
  }
  cut.globalSize = window.count;
  cut.step = piece / stride;
  cut.start = first(0);
  int64_t most = cut.start;
  for (int64_t shard = 1; shard < shards; ++shard) {
    cut.start = std::min(cut.start, first(shard) - cut.step * shard);
    most = std::max(most, first(shard) - cut.step * shard);
  }
  cut.size = count + most - cut.start;
  return cut;
}

static ShardWindow shardResult(const FactorWindow &window, int64_t shards,
                               int64_t localSize) {
  ShardWindow cut;
  cut.localSize = localSize;
  cut.globalSize = window.size;
  cut.step = cut.size = llvm::divideCeil(window.size, shards);
  return cut;
}

// A device's windows cover the positions of the base from count * stride * i -
// low on. Where that is a multiple of the base dilation further from device to
// device, the elements among them are found at the same places.
ShardWindow shardWindow(const FactorWindow &window, int64_t shards,
                        int64_t localSize) {
  if (window.kind == WindowKind::Retiled)
    return shardResult(window, shards, localSize);
  if (window.kind != WindowKind::Seen)
    return shardReaching(window, shards, localSize);
  ShardWindow cut;
  int64_t count = llvm::divideCeil(window.count, shards);
  int64_t step = count * window.stride;
  int64_t dilation = window.baseDilation;
  cut.localSize = localSize;
  cut.globalSize = window.size;
  if (step % dilation != 0) {
    cut.isDilatedFirst = true;
    cut.localSize *= dilation;
    cut.globalSize = cut.localSize * shards;
    dilation = 1;
  }
  int64_t covered =
      count == 0 ? 0 : (count - 1) * std::abs(window.stride) + window.extent;
  int64_t first = -window.low;
  if (window.stride < 0 && count > 0)
    first += (count - 1) * window.stride;
  cut.start = llvm::divideCeilSigned(first, dilation);
  cut.step = step / dilation;
  int64_t holes = cut.start * dilation - first;
  cut.size = covered > holes ? (covered - holes - 1) / dilation + 1 : 1;
  cut.low = holes;
  cut.high = covered - holes - ((cut.size - 1) * dilation + 1);
  cut.baseDilation = dilation;
  return cut;
}

} // namespace shardonnay
