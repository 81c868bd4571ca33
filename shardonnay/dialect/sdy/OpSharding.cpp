//===- OpSharding.cpp -----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/sdy/OpSharding.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"

using namespace mlir;
using namespace mlir::sdy;

TensorShardingAttr mlir::sdy::getOpSharding(Operation *op) {
  return op->getAttrOfType<TensorShardingAttr>(kOpShardingAttr);
}

std::optional<SmallVector<shardonnay::AxisList, 6>>
mlir::sdy::getRequiredOpSharding(Operation *op, size_t numFactors,
                                 MeshAttr mesh) {
  TensorShardingAttr sharding = getOpSharding(op);
  if (!sharding || !sharding.isFullyClosed() ||
      sharding.getDimShardings().size() != numFactors ||
      getMesh(op, sharding) != mesh)
    return std::nullopt;
  return llvm::map_to_vector<6>(sharding.getDimShardings(),
                                [&](DimensionShardingAttr factor) {
                                  return toAxisList(factor.getAxes(), mesh);
                                });
}
