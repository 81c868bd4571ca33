//===- LinearOperands.h - operands that may be summands ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_LINEAROPERANDS_H
#define SHARDONNAY_TRANSFORMS_RESHARD_LINEAROPERANDS_H

#include "mlir/IR/Operation.h"
#include "shardonnay/algebra/TensorSharding.h"
#include "llvm/ADT/SmallBitVector.h"

namespace shardonnay {

/// The operands, none of them in `partial`, that have to be summands too for
/// `op` to be linear: one, or all. Nothing if it is linear in no such way.
/// Maxima and minima need none.
std::optional<llvm::SmallBitVector>
findOwned(mlir::Operation *op, ReductionKind kind,
          const llvm::SmallBitVector &partial);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_LINEAROPERANDS_H
