//===- DimSplit.h - ops on dims that are split ------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_DIMSPLIT_H
#define SHARDONNAY_INTERFACES_DIMSPLIT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace shardonnay {

/// The sizes that each dim of a tensor is split into, major to minor; one, its
/// own, where it stays.
using TensorSplit = llvm::SmallVector<llvm::SmallVector<int64_t, 2>, 4>;

mlir::RankedTensorType splitType(mlir::RankedTensorType type,
                                 const TensorSplit &split);

/// The splits of an op's tensors: operands first, then results.
class DimSplits {
public:
  std::vector<TensorSplit> tensors;

  bool isSplit(int64_t tensor, int64_t dim) const {
    return tensors[tensor][dim].size() > 1;
  }
  /// The first of the dims that dim `dim` of a tensor becomes. The dim behind
  /// the last gives the new rank.
  int64_t first(int64_t tensor, int64_t dim) const;
  /// All dims that these become, one after the other.
  llvm::SmallVector<int64_t> dims(int64_t tensor,
                                  llvm::ArrayRef<int64_t> dims) const;
};

/// A copy of `op` on other operands, with results of other types.
mlir::Operation *cloneWithTypes(mlir::Operation *op, mlir::OpBuilder &builder,
                                mlir::ValueRange operands,
                                mlir::TypeRange results);

} // namespace shardonnay

#include "shardonnay/interfaces/DimSplit.h.inc"

#endif // SHARDONNAY_INTERFACES_DIMSPLIT_H
