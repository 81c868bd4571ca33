//===- DimSplit.cpp - ops on dims that are split --------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/DimSplit.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

#include "shardonnay/interfaces/DimSplit.cpp.inc"

namespace shardonnay {

RankedTensorType splitType(RankedTensorType type, const TensorSplit &split) {
  SmallVector<int64_t> shape;
  for (ArrayRef<int64_t> sizes : split)
    llvm::append_range(shape, sizes);
  return type.clone(shape);
}

int64_t DimSplits::first(int64_t tensor, int64_t dim) const {
  int64_t first = 0;
  for (ArrayRef<int64_t> sizes : ArrayRef(tensors[tensor]).take_front(dim))
    first += sizes.size();
  return first;
}

SmallVector<int64_t> DimSplits::dims(int64_t tensor,
                                     ArrayRef<int64_t> dims) const {
  SmallVector<int64_t> result;
  for (int64_t dim : dims)
    llvm::append_range(result,
                       llvm::seq(first(tensor, dim), first(tensor, dim + 1)));
  return result;
}

Operation *cloneWithTypes(Operation *op, OpBuilder &builder,
                          ValueRange operands, TypeRange results) {
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(clone->getResults(), results))
    result.setType(type);
  return clone;
}

} // namespace shardonnay
