//===- EmitPack.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/EmitPack.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/emit/PackedRows.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace shardonnay {

namespace {

class Packer {
public:
  Packer(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() == shape)
      return value;
    return stablehlo::ReshapeOp::create(builder, loc, type.clone(shape), value);
  }
  Value bitcast(Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() == element)
      return value;
    return stablehlo::BitcastConvertOp::create(
        builder, loc, RankedTensorType::get(type.getShape(), element), value);
  }
  /// [shards, elements of a shard]; in one dim if it is one shard.
  Value toRows(Value tensor, ShardedDim sharded);
  /// The other way.
  Value fromRows(Value rows, ArrayRef<int64_t> shape, ShardedDim sharded);
  Value transpose(Value value, ArrayRef<int64_t> order);

private:
  OpBuilder &builder;
  Location loc;
};

bool isLeading(ArrayRef<int64_t> shape, int64_t dim) {
  return llvm::all_of(shape.take_front(dim),
                      [](int64_t size) { return size == 1; });
}

Value Packer::transpose(Value value, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value.getType());
  auto shape = llvm::map_to_vector(
      order, [&](int64_t dim) { return type.getDimSize(dim); });
  return stablehlo::TransposeOp::create(builder, loc, type.clone(shape), value,
                                        order);
}

Value Packer::toRows(Value tensor, ShardedDim sharded) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t elements = type.getNumElements();
  if (sharded.shards == 1)
    return reshape(tensor, {elements});
  if (!isLeading(type.getShape(), sharded.dim)) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank() + 1));
    order.erase(order.begin() + sharded.dim);
    order.insert(order.begin(), sharded.dim);
    tensor =
        transpose(reshape(tensor, splitShape(type.getShape(), sharded)), order);
  }
  return reshape(tensor, {sharded.shards, elements / sharded.shards});
}

Value Packer::fromRows(Value rows, ArrayRef<int64_t> shape,
                       ShardedDim sharded) {
  if (sharded.shards == 1 || isLeading(shape, sharded.dim))
    return reshape(rows, shape);
  SmallVector<int64_t> split = splitShape(shape, sharded);
  auto order = llvm::to_vector(llvm::seq<int64_t>(1, split.size()));
  order.insert(order.begin() + sharded.dim, 0);
  split.erase(split.begin() + sharded.dim);
  split.insert(split.begin(), sharded.shards);
  return reshape(transpose(reshape(rows, split), order), shape);
}

} // namespace

Value emitPack(OpBuilder &builder, spmd::PackOp op) {
  Packer packer(builder, op.getLoc());
  Type element = getElementTypeOrSelf(op.getType());
  SmallVector<Value> rows;
  for (auto [i, tensor] : llvm::enumerate(op.getTensors()))
    rows.push_back(
        packer.toRows(packer.bitcast(tensor, element), getShardedDim(op, i)));
  int64_t rowDim = op.getPieces().value_or(1) == 1 ? 0 : 1;
  Value all =
      stablehlo::ConcatenateOp::create(builder, op.getLoc(), rows, rowDim);
  return packer.reshape(all, op.getType().getShape());
}

SmallVector<Value> emitUnpack(OpBuilder &builder, spmd::UnpackOp op) {
  Packer packer(builder, op.getLoc());
  auto pieces = static_cast<int64_t>(op.getPieces().value_or(1));
  auto packed = cast<RankedTensorType>(op.getTensor().getType());
  Value rows = op.getTensor();
  if (pieces > 1)
    rows = packer.reshape(rows, {pieces, packed.getDimSize(0) / pieces});
  SmallVector<Value> results;
  int64_t start = 0;
  for (auto [i, each] : llvm::enumerate(op.getResultTypes())) {
    auto type = cast<RankedTensorType>(each);
    int64_t limit = start + type.getNumElements() / pieces;
    SmallVector<int64_t> starts, limits;
    if (pieces > 1) {
      starts.push_back(0);
      limits.push_back(pieces);
    }
    starts.push_back(start);
    limits.push_back(limit);
    Value part =
        stablehlo::SliceOp::create(builder, op.getLoc(), rows, starts, limits,
                                   SmallVector<int64_t>(starts.size(), 1));
    Value result = packer.fromRows(part, type.getShape(), getShardedDim(op, i));
    results.push_back(packer.bitcast(result, type.getElementType()));
    start = limit;
  }
  return results;
}

} // namespace shardonnay
