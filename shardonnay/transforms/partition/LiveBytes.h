//===- LiveBytes.h - what is alive along a block ----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes alive while each op of a block runs, for who moves ops about and
// wants to know whether there is room: a value that lives longer is added where
// it does. A block's arguments and what is alive around it count throughout.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PARTITION_LIVEBYTES_H
#define SHARDONNAY_TRANSFORMS_PARTITION_LIVEBYTES_H

#include "mlir/IR/Block.h"
#include <vector>

namespace shardonnay {

class LiveBytes {
public:
  /// `outside` bytes are alive around the block.
  LiveBytes(mlir::Block &block, int64_t outside);

  /// While the op at this position runs.
  int64_t at(int64_t position) const { return bytes[position]; }
  /// The most while one of the ops at positions [from, to) runs.
  int64_t most(int64_t from, int64_t to) const;
  /// At positions [from, to) so many bytes more are alive.
  void add(int64_t from, int64_t to, int64_t more);

private:
  std::vector<int64_t> bytes;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PARTITION_LIVEBYTES_H
