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

// A device's windows cover the positions of the base from count * stride * i -
// low on. Where that is a multiple of the base dilation further from device to
// device, the elements among them are found at the same places.
CutWindow cutWindow(const FactorWindow &window, int64_t shards,
                    int64_t localSize) {
  CutWindow cut;
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
