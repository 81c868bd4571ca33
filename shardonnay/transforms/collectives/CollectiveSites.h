//===- CollectiveSites.h - where collectives may get cheaper ----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_COLLECTIVES_COLLECTIVESITES_H
#define SHARDONNAY_TRANSFORMS_COLLECTIVES_COLLECTIVESITES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardonnay/interfaces/ProgramOps.h"

namespace shardonnay {

/// What the optimizations look at, found at once for all of them. It holds
/// until one of them changes something. Each list is in program order.
struct CollectiveSites {
  CollectiveSites(mlir::func::FuncOp func, const ProgramOps &all);

  using Ops = llvm::SmallVector<mlir::Operation *, 0>;
  mlir::func::FuncOp func;
  Ops loops;
  /// Those that can be planned.
  Ops collectives;
  /// The ops with one result.
  Ops ops;
  /// Those of them that a collective feeds.
  Ops fed;
};

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_COLLECTIVES_COLLECTIVESITES_H
