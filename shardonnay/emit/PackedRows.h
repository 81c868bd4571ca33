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
#include "llvm/ADT/Sequence.h"

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

/// The dims before `dim` have one position.
inline bool isLeading(llvm::ArrayRef<int64_t> shape, int64_t dim) {
  return llvm::all_of(shape.take_front(dim),
                      [](int64_t size) { return size == 1; });
}

/// `tensor` as rows. `build` has `reshape(value, shape)` and
/// `transpose(value, order)`, which build ops.
template <typename BuilderT>
mlir::Value toRows(BuilderT &build, mlir::Value tensor, ShardedDim sharded) {
  auto type = llvm::cast<mlir::RankedTensorType>(tensor.getType());
  if (sharded.shards > 1 && !isLeading(type.getShape(), sharded.dim)) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank() + 1));
    order.erase(order.begin() + sharded.dim);
    order.insert(order.begin(), sharded.dim);
    llvm::SmallVector<int64_t> split = splitShape(type.getShape(), sharded);
    tensor = build.transpose(build.reshape(tensor, split), order);
  }
  return build.reshape(
      tensor, {sharded.shards, type.getNumElements() / sharded.shards});
}

/// The tensor of `shape` of which `rows` are the rows.
template <typename BuilderT>
mlir::Value fromRows(BuilderT &build, mlir::Value rows,
                     llvm::ArrayRef<int64_t> shape, ShardedDim sharded) {
  if (sharded.shards == 1 || isLeading(shape, sharded.dim))
    return build.reshape(rows, shape);
  llvm::SmallVector<int64_t> split = splitShape(shape, sharded);
  auto order = llvm::to_vector(llvm::seq<int64_t>(1, split.size()));
  order.insert(order.begin() + sharded.dim, 0);
  split.erase(split.begin() + sharded.dim);
  split.insert(split.begin(), sharded.shards);
  return build.reshape(build.transpose(build.reshape(rows, split), order),
                       shape);
}

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_PACKEDROWS_H
