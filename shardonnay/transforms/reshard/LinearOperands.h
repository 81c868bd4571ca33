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

/// The unreduced axes of a value, and their kind.
struct Parts {
  AxisList axes;
  ReductionKind kind = ReductionKind::Sum;
};

/// Returns which of the axes along which the results of `op` are to be partial
/// sums, `made`, are such that it can compute them from operands that are
/// partial sums. `present` are the axes of the operands; `wanted` gets those
/// that each must have. What an op without a rule of its own passes on, its
/// user knows.
AxisList passParts(mlir::Operation *op, const Parts &made,
                   llvm::ArrayRef<Parts> present,
                   llvm::MutableArrayRef<Parts> wanted);
/// What `op` computes its user alone knows.
bool isOpaque(mlir::Operation *op);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_LINEAROPERANDS_H
