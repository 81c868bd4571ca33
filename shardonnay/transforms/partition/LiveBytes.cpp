//===- LiveBytes.cpp ------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/partition/LiveBytes.h"

#include "mlir/IR/Operation.h"
#include "shardonnay/algebra/Counts.h"
#include "shardonnay/analysis/Summary.h"
#include <algorithm>

using namespace mlir;

namespace shardonnay {

LiveBytes::LiveBytes(Block &block, int64_t outside) {
  for (BlockArgument argument : block.getArguments())
    outside = countSum(outside, byteSize(argument.getType()));
  DenseMap<Operation *, int64_t> positions;
  for (Operation &op : block)
    positions.try_emplace(&op, positions.size());
  bytes.assign(positions.size(), outside);
  // What begins to be alive at a position, less what ceases to.
  std::vector<__int128> change(positions.size() + 1);
  int64_t position = 0;
  for (Operation &op : block) {
    for (Value result : op.getResults()) {
      int64_t last = position;
      for (Operation *user : result.getUsers())
        if (Operation *here = block.findAncestorOpInBlock(*user))
          last = std::max(last, positions.lookup(here));
      change[position] += byteSize(result.getType());
      change[last + 1] -= byteSize(result.getType());
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        LiveBytes inside(inner, /*outside=*/0);
        bytes[position] =
            std::max(bytes[position],
                     countSum(outside, inside.most(0, inside.bytes.size())));
      }
    ++position;
  }
  __int128 alive = 0;
  for (auto [at, more] : llvm::zip_first(bytes, change)) {
    alive += more;
    at = static_cast<int64_t>(std::min<__int128>(at + alive, kMostCount));
  }
}

int64_t LiveBytes::most(int64_t from, int64_t to) const {
  int64_t found = 0;
  for (int64_t at = from; at < to; ++at)
    found = std::max(found, bytes[at]);
  return found;
}

void LiveBytes::add(int64_t from, int64_t to, int64_t more) {
  for (int64_t at = from; at < to; ++at)
    bytes[at] = countSum(bytes[at], more);
}

} // namespace shardonnay
