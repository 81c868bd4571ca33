//===- PackedTensors.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/mpi/PackedTensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardonnay/emit/PackedRows.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace shardonnay {

namespace {

class RowBuilder {
public:
  RowBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value bitcast(Value value, Type element);
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value insert(Value rows, Value all, int64_t start);
  Value extract(Value all, int64_t start, int64_t size);

  Value transpose(Value value, ArrayRef<int64_t> order);

private:
  RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }
  SmallVector<OpFoldResult> numbers(ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  }

  OpBuilder &builder;
  Location loc;
};

Value RowBuilder::bitcast(Value value, Type element) {
  RankedTensorType type = typeOf(value);
  if (type.getElementType() == element)
    return value;
  return arith::BitcastOp::create(builder, loc, type.clone(element), value);
}

/// Through one dim of all elements.
Value RowBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(value);
  if (type.getShape() == shape)
    return value;
  auto flat =
      RankedTensorType::get({type.getNumElements()}, type.getElementType());
  auto allDims = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups;
    if (rank > 0)
      groups.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(0, rank)));
    return groups;
  };
  if (type.getRank() == 0)
    value =
        tensor::ExpandShapeOp::create(builder, loc, flat, value, allDims(0));
  else if (type.getRank() > 1)
    value = tensor::CollapseShapeOp::create(builder, loc, flat, value,
                                            allDims(type.getRank()));
  int64_t rank = static_cast<int64_t>(shape.size());
  if (rank == 0)
    return tensor::CollapseShapeOp::create(builder, loc, type.clone(shape),
                                           value, allDims(0));
  if (rank == 1)
    return value;
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value,
                                       allDims(rank));
}

Value RowBuilder::transpose(Value value, ArrayRef<int64_t> order) {
  RankedTensorType type = typeOf(value);
  auto shape = llvm::map_to_vector(
      order, [&](int64_t dim) { return type.getDimSize(dim); });
  Value init =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  return linalg::TransposeOp::create(builder, loc, value, init, order)
      ->getResult(0);
}

Value RowBuilder::insert(Value rows, Value all, int64_t start) {
  return tensor::InsertSliceOp::create(
      builder, loc, rows, all, numbers({0, start}),
      numbers(typeOf(rows).getShape()), numbers({1, 1}));
}

Value RowBuilder::extract(Value all, int64_t start, int64_t size) {
  return tensor::ExtractSliceOp::create(
      builder, loc, all, numbers({0, start}),
      numbers({typeOf(all).getDimSize(0), size}), numbers({1, 1}));
}

} // namespace

Value buildPack(OpBuilder &builder, spmd::PackOp op) {
  RowBuilder rows(builder, op.getLoc());
  Type element = op.getType().getElementType();
  auto shards = static_cast<int64_t>(op.getPieces().value_or(1));
  Value all = tensor::EmptyOp::create(
      builder, op.getLoc(),
      ArrayRef<int64_t>{shards, op.getType().getNumElements() / shards},
      element);
  int64_t start = 0;
  for (auto [i, tensor] : llvm::enumerate(op.getTensors())) {
    Value part =
        toRows(rows, rows.bitcast(tensor, element), getShardedDim(op, i));
    all = rows.insert(part, all, start);
    start += cast<RankedTensorType>(part.getType()).getDimSize(1);
  }
  return rows.reshape(all, op.getType().getShape());
}

SmallVector<Value> buildUnpack(OpBuilder &builder, spmd::UnpackOp op) {
  RowBuilder rows(builder, op.getLoc());
  auto shards = static_cast<int64_t>(op.getPieces().value_or(1));
  int64_t elements = op.getTensor().getType().getNumElements();
  Value all = rows.reshape(op.getTensor(), {shards, elements / shards});
  SmallVector<Value> results;
  int64_t start = 0;
  for (auto [i, each] : llvm::enumerate(op.getResultTypes())) {
    auto type = cast<RankedTensorType>(each);
    int64_t size = type.getNumElements() / shards;
    Value result = fromRows(rows, rows.extract(all, start, size),
                            type.getShape(), getShardedDim(op, i));
    results.push_back(rows.bitcast(result, type.getElementType()));
    start += size;
  }
  return results;
}

} // namespace shardonnay
