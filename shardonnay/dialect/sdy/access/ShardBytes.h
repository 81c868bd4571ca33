//===- ShardBytes.h - bytes of local shards ---------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ACCESS_SHARDBYTES_H
#define SHARDONNAY_DIALECT_SDY_ACCESS_SHARDBYTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "shardonnay/algebra/TensorSharding.h"

namespace mlir::sdy {

/// Bytes of a shard of `type` by `sharding`, on one device; a byte or more for
/// each element.
int64_t getShardBytes(RankedTensorType type,
                      const shardonnay::TensorSharding &sharding);

/// Bytes of one element; 8 of what is no number.
int64_t getElementBytes(RankedTensorType type);

/// What a byte of the op's results that a device holds costs, in byte times
/// (kMemoryPriceAttr); 0 where nothing says it.
double getMemoryPrice(Operation *op);

/// All elements are the number zero.
bool isZeroSplat(Attribute elements);

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ACCESS_SHARDBYTES_H
