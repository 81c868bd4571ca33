//===- ShardBytes.cpp - bytes of local shards -----------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/access/ShardBytes.h"
#include "shardonnay/algebra/Counts.h"
#include "shardonnay/dialect/sdy/Dialect.h"

using namespace mlir;
using namespace mlir::sdy;
using shardonnay::TensorSharding;

int64_t sdy::getShardBytes(RankedTensorType type,
                           const TensorSharding &sharding) {
  int64_t bytes = getElementBytes(type);
  for (auto [size, dim] : llvm::zip_equal(type.getShape(), sharding.dims))
    bytes = shardonnay::countProduct(
        bytes, llvm::divideCeil(size, dim.axes.numShards()));
  return bytes;
}

int64_t sdy::getElementBytes(RankedTensorType type) {
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * llvm::divideCeil(
                   complex.getElementType().getIntOrFloatBitWidth(), 8);
  return element.isIntOrFloat()
             ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
             : 8;
}

double sdy::getMemoryPrice(Operation *op) {
  auto price = op->getAttrOfType<FloatAttr>(kMemoryPriceAttr);
  return price ? price.getValueAsDouble() : 0;
}

bool sdy::isZeroSplat(Attribute elements) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(elements);
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().isZero();
  return isa<IntegerType>(dense.getElementType()) &&
         dense.getSplatValue<APInt>().isZero();
}
