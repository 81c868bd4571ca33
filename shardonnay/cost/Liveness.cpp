//===- Liveness.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/cost/Liveness.h"

#include "shardonnay/algebra/Counts.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace shardonnay {

namespace {

constexpr int64_t kNever = -1;

/// What is alive together may be more than 64 bits count, and ceases to be.
using Total = __int128;

/// From which op to which a buffer is alive.
struct Span {
  int64_t from = 0, to = kNever;
};

std::vector<Span> findSpans(const MemoryBlock &block) {
  std::vector<Span> spans(block.bytes.size());
  int64_t numOps = block.ops.size();
  for (int64_t i = 0; i < numOps; ++i) {
    for (int32_t buffer : block.ops[i].makes)
      spans[buffer] = {i, i};
    for (int32_t buffer : block.ops[i].uses)
      spans[buffer].to = i;
  }
  for (int32_t buffer : block.arguments)
    spans[buffer] = {0, block.argumentsStay
                            ? numOps
                            : std::max<int64_t>(0, spans[buffer].to)};
  return spans;
}

/// What is alive while `op` runs: `before` bytes were before it, `dying` of
/// them are no more behind it.
Total bytesAt(const MemoryBlock &block, const MemoryOp &op, Total before,
              llvm::ArrayRef<int32_t> dead, Total dying) {
  Total made = 0;
  llvm::SmallVector<int32_t, 4> places(dead);
  for (int32_t buffer : op.makes) {
    auto *place = llvm::find_if(places, [&](int32_t other) {
      return block.bytes[other] == block.bytes[buffer];
    });
    if (op.inPlace && place != places.end())
      places.erase(place);
    else
      made += block.bytes[buffer];
  }
  if (!op.hasRegions)
    return before + made;
  Total copies = std::max<Total>(0, op.carried - dying);
  return before + std::max<Total>(copies + op.inside, made - dying);
}

} // namespace

MemoryPeak findPeak(const MemoryBlock &block) {
  std::vector<Span> spans = findSpans(block);
  MemoryPeak peak;
  Total alive = block.reserved;
  for (int32_t buffer : block.arguments)
    alive += block.bytes[buffer];
  Total most = alive;
  int64_t numOps = block.ops.size();
  for (int64_t i = 0; i < numOps; ++i) {
    const MemoryOp &op = block.ops[i];
    llvm::SmallVector<int32_t, 4> dead;
    Total dying = 0;
    for (int32_t buffer : op.uses)
      if (spans[buffer].to == i && !llvm::is_contained(dead, buffer)) {
        dead.push_back(buffer);
        dying += block.bytes[buffer];
      }
    Total here = bytesAt(block, op, alive, dead, dying);
    if (here > most) {
      most = here;
      peak.op = i;
    }
    alive -= dying;
    for (int32_t buffer : op.makes)
      if (spans[buffer].to > i)
        alive += block.bytes[buffer];
  }
  peak.bytes = static_cast<int64_t>(std::min<Total>(most, kMostCount));
  for (auto [buffer, span] : llvm::enumerate(spans))
    if ((span.from <= peak.op || (peak.op < 0 && span.from == 0) ||
         span.to == numOps) &&
        peak.op <= span.to && span.to != kNever)
      peak.live.push_back(buffer);
  return peak;
}

} // namespace shardonnay
