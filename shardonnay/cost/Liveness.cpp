//===- Liveness.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/cost/Liveness.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace shardonnay {

namespace {

constexpr int64_t kNever = -1;

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
    spans[buffer] = {0, numOps};
  return spans;
}

/// What is alive while `op` runs: `before` bytes were before it, `dying` of
/// them are no more behind it.
int64_t bytesAt(const MemoryBlock &block, const MemoryOp &op, int64_t before,
                int64_t dying) {
  int64_t made = 0;
  for (int32_t buffer : op.makes)
    made += block.bytes[buffer];
  if (!op.hasRegions)
    return before + made;
  int64_t copies = std::max<int64_t>(0, op.carried - dying);
  return before + std::max(copies + op.inside, made - dying);
}

} // namespace

MemoryPeak findPeak(const MemoryBlock &block) {
  std::vector<Span> spans = findSpans(block);
  MemoryPeak peak;
  int64_t alive = 0;
  for (int32_t buffer : block.arguments)
    alive += block.bytes[buffer];
  peak.bytes = alive;
  int64_t numOps = block.ops.size();
  for (int64_t i = 0; i < numOps; ++i) {
    const MemoryOp &op = block.ops[i];
    llvm::SmallVector<int32_t, 4> dead;
    int64_t dying = 0;
    for (int32_t buffer : op.uses)
      if (spans[buffer].to == i && !llvm::is_contained(dead, buffer)) {
        dead.push_back(buffer);
        dying += block.bytes[buffer];
      }
    int64_t here = bytesAt(block, op, alive, dying);
    if (here > peak.bytes) {
      peak.bytes = here;
      peak.op = i;
    }
    alive -= dying;
    for (int32_t buffer : op.makes)
      if (spans[buffer].to > i)
        alive += block.bytes[buffer];
  }
  for (auto [buffer, span] : llvm::enumerate(spans))
    if ((span.from <= peak.op || span.to == numOps) && peak.op <= span.to &&
        span.to != kNever)
      peak.live.push_back(buffer);
  return peak;
}

} // namespace shardonnay
