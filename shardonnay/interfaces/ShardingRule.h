//===- ShardingRule.h - how an op's dims decompose --------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_SHARDINGRULE_H
#define SHARDONNAY_INTERFACES_SHARDINGRULE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "shardonnay/algebra/Factor.h"
#include "llvm/ADT/SmallBitVector.h"
#include <optional>

namespace shardonnay {

/// All operands and results are tensors of static shape.
inline bool hasStaticShapes(mlir::Operation *op) {
  auto isStatic = [](mlir::Type type) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), isStatic) &&
         llvm::all_of(op->getResultTypes(), isStatic);
}

/// When propagation visits an op: its level of op priority, and the
/// direction allowed there.
enum class PropagationClass : uint8_t {
  /// Element-wise, reshape, transpose, data-flow edges: from level 0 (one use)
  /// and 1, both ways.
  PassThrough,
  /// Dynamic slices: like PassThrough, forward only until all directions are
  /// free.
  PassThroughForward,
  /// Broadcasts: from level 2, backward only until level 4.
  BroadcastBackward,
  /// The rest: pass-through factors from level 2, all factors from level 3.
  Compute,
};

} // namespace shardonnay

#include "shardonnay/interfaces/ShardingRule.h.inc"

#endif // SHARDONNAY_INTERFACES_SHARDINGRULE_H
