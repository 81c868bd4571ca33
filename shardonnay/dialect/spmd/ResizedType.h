//===- ResizedType.h - a tensor type with another size of a dim -*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SPMD_RESIZEDTYPE_H
#define SHARDONNAY_DIALECT_SPMD_RESIZEDTYPE_H

#include "mlir/IR/BuiltinTypes.h"

namespace shardonnay {

/// `type`, but `size` along dim `dim`: what a collective along it gives.
inline mlir::RankedTensorType resized(mlir::RankedTensorType type, int64_t dim,
                                      int64_t size) {
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

} // namespace shardonnay

#endif // SHARDONNAY_DIALECT_SPMD_RESIZEDTYPE_H
