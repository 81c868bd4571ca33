//===- PackedRows.h - tensors as rows of a packed one -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor of so many shards along a dim is, in the packed one, rows: one a
// shard, [shards, elements of a shard]. A tensor without shards is one row.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_PACKEDROWS_H
#define SHARDONNAY_EMIT_PACKEDROWS_H

#include "shardonnay/dialect/spmd/Ops.h"

namespace shardonnay {

/// A dim of so many equal shards.
struct ShardedDim {
  int64_t shards;
  int64_t dim;
};

/// The sharded dim of tensor `i` of a pack or unpack; one shard if it has none.
template <typename PackOp> ShardedDim getShardedDim(PackOp op, size_t i) {
  if (!op.getPieces())
    return {1, 0};
  return {static_cast<int64_t>(*op.getPieces()), (*op.getDims())[i]};
}

/// `shape` with the sharded dim as [shards, size of a shard].
inline llvm::SmallVector<int64_t> splitShape(llvm::ArrayRef<int64_t> shape,
                                             ShardedDim sharded) {
  llvm::SmallVector<int64_t> split(shape);
  split[sharded.dim] /= sharded.shards;
  split.insert(split.begin() + sharded.dim, sharded.shards);
  return split;
}

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_PACKEDROWS_H
