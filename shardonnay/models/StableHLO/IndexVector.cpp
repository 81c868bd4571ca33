//===- IndexVector.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/models/StableHLO/IndexVector.h"
#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/models/StableHLO/Attach.h"

using namespace mlir;
using namespace mlir::stablehlo;
using namespace shardonnay;

int64_t shardonnay::positionIn(ArrayRef<int64_t> list, int64_t value) {
  const auto *it = llvm::find(list, value);
  return it == list.end() ? -1 : it - list.begin();
}

IndexVector::IndexVector(OpBuilder &builder, Location loc, Value indices,
                         int64_t vectorDim, ArrayRef<ShardedDim> dims)
    : builder(builder), loc(loc), vectorDim(vectorDim) {
  int64_t largest = 0;
  for (const ShardedDim &dim : dims)
    largest = std::max(largest, dim.globalSize);
  LocalMath math(builder, loc);
  integer = math.positionType(largest, getElementTypeOrSelf(indices));
  vectors = math.positions(indices, integer);

  ArrayRef<int64_t> shape = shapeOf(vectors);
  int64_t rank = shape.size();
  if (vectorDim == rank || shape[vectorDim] == 1) {
    components.push_back(vectors);
    return;
  }
  SmallVector<int64_t> starts(rank, 0), limits(shape), strides(rank, 1);
  for (int64_t k = 0; k < shape[vectorDim]; ++k) {
    starts[vectorDim] = k;
    limits[vectorDim] = k + 1;
    components.push_back(
        SliceOp::create(builder, loc, vectors, starts, limits, strides));
  }
}

Value IndexVector::join() const {
  // Vectors without components: all windows begin at 0 in all dims.
  if (components.empty())
    return vectors;
  if (components.size() == 1)
    return components.front();
  return ConcatenateOp::create(builder, loc, components, vectorDim);
}

SmallVector<int64_t> IndexVector::batchShape() const {
  SmallVector<int64_t> shape(shapeOf(vectors));
  if (vectorDim < static_cast<int64_t>(shape.size()))
    shape.erase(shape.begin() + vectorDim);
  return shape;
}
