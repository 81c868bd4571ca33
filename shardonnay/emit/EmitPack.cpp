//===- EmitPack.cpp -------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/emit/EmitPack.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"
#include "shardonnay/emit/PackedRows.h"

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
  Value transpose(Value value, ArrayRef<int64_t> order);

private:
  OpBuilder &builder;
  Location loc;
};

Value Packer::transpose(Value value, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value.getType());
  auto shape = llvm::map_to_vector(
      order, [&](int64_t dim) { return type.getDimSize(dim); });
  return stablehlo::TransposeOp::create(builder, loc, type.clone(shape), value,
                                        order);
}

} // namespace

Value emitPack(OpBuilder &builder, spmd::PackOp op) {
  Packer packer(builder, op.getLoc());
  Type element = getElementTypeOrSelf(op.getType());
  SmallVector<Value> rows;
  for (auto [i, tensor] : llvm::enumerate(op.getTensors())) {
    Value bits = packer.bitcast(tensor, element);
    ShardedDim sharded = getShardedDim(op, i);
    int64_t elements = cast<RankedTensorType>(bits.getType()).getNumElements();
    rows.push_back(sharded.shards == 1 ? packer.reshape(bits, {elements})
                                       : toRows(packer, bits, sharded));
  }
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
    Value result =
        fromRows(packer, part, type.getShape(), getShardedDim(op, i));
    results.push_back(packer.bitcast(result, type.getElementType()));
    start = limit;
  }
  return results;
}

} // namespace shardonnay
