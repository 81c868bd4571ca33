//===- Invariants.h - what no run of a loop changes -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value from outside of a loop, one that the loop carries unchanged, and what
// pure ops compute of such alone: a collective of it may stand before the loop.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_COLLECTIVES_INVARIANTS_H
#define SHARDONNAY_TRANSFORMS_COLLECTIVES_INVARIANTS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace shardonnay {

class Invariants {
public:
  explicit Invariants(mlir::Operation *loop) : loop(loop) {}

  bool contain(mlir::Value value) { return contain(value, 0); }
  bool isOutside(mlir::Value value) const;
  /// What an op without regions hands on as `value`, as it is: `jax.checkpoint`
  /// puts all that it recomputes from behind such an op.
  mlir::Value skipBarriers(mlir::Value value) const;

private:
  bool contain(mlir::Value value, unsigned depth);

  mlir::Operation *loop;
  /// Of results in the loop.
  llvm::DenseMap<mlir::Value, bool> known;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_COLLECTIVES_INVARIANTS_H
