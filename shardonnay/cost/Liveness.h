//===- Liveness.h - the most memory that a program holds --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The most bytes alive at once while ops run in order, each making buffers and
// reading others. The arguments are alive throughout, or to their last use in a
// loop, which writes its next state there; what an op makes is alive from there
// to its last use, in full while the op runs, but that an op in place takes
// what it uses last for what it makes of the same size.
//
// An op with regions holds, besides what is alive around it, what is alive in
// the region that needs most (`inside`, the region's own arguments not
// counted). These arguments (`carried` bytes) take the places of what the op
// uses last, and are copies of the rest; its results are what the regions end
// with.
//
// Worked example, arguments x (8 bytes) and y (4): a = f(x, y) of 16 bytes,
// b = g(a) of 2, c = h(b, x) of 1. Alive: 28 at f, 30 at g, then a is dead: 15
// at h.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_COST_LIVENESS_H
#define SHARDONNAY_COST_LIVENESS_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace shardonnay {

/// What one op does to memory. Buffers are numbers.
struct MemoryOp {
  /// Read by the op or in its regions.
  llvm::SmallVector<int32_t, 4> uses;
  llvm::SmallVector<int32_t, 2> makes;
  bool inPlace = false;
  bool hasRegions = false;
  int64_t inside = 0;
  int64_t carried = 0;
};

/// Ops in order. Every buffer is made by one op, or is an argument.
struct MemoryBlock {
  /// By buffer.
  std::vector<int64_t> bytes;
  llvm::SmallVector<int32_t> arguments;
  std::vector<MemoryOp> ops;
  bool argumentsStay = true;
  /// Held throughout, besides all buffers.
  int64_t reserved = 0;
};

struct MemoryPeak {
  int64_t bytes = 0;
  /// The first op at which that much is alive; -1: the arguments alone.
  int64_t op = -1;
  /// The buffers alive there, arguments and op's results included.
  llvm::SmallVector<int32_t> live;
};

/// Takes time in the number of ops and uses.
MemoryPeak findPeak(const MemoryBlock &block);

} // namespace shardonnay

#endif // SHARDONNAY_COST_LIVENESS_H
