//===- SameShape.h - bodies that can be computed on any shape ---*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A body of element-wise ops and of constants whose elements are all alike, on
// tensors of one shape and scalars: on a shard of that shape it is the same
// body.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MODELS_STABLEHLO_SAMESHAPE_H
#define SHARDONNAY_MODELS_STABLEHLO_SAMESHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace shardonnay {

/// The shape that all tensors of higher rank than 0 in `body` have, which the
/// body's arguments and what it returns have; nothing if the body is not as
/// above.
std::optional<llvm::SmallVector<int64_t>> commonShape(mlir::Block &body);

/// Gives the tensors of the common shape in `body` the shape `local`.
void changeShape(mlir::Block &body, llvm::ArrayRef<int64_t> local);

} // namespace shardonnay

#endif // SHARDONNAY_MODELS_STABLEHLO_SAMESHAPE_H
