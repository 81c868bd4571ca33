//===- OutlineComputation.h - a function of a body --------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_EXPORT_OUTLINECOMPUTATION_H
#define SHARDONNAY_TRANSFORMS_EXPORT_OUTLINECOMPUTATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "shardonnay/dialect/sdy/Ops.h"

namespace shardonnay {

/// A private function with the body of `op`, which has none then, its arguments
/// sharded as `op` has them, in `symbols` by its name or one like it.
mlir::func::FuncOp outlineBody(mlir::sdy::NamedComputationOp op,
                               mlir::SymbolTable &symbols);

/// A call of `func` takes the place of `op`, and has its result shardings.
void replaceByCall(mlir::sdy::NamedComputationOp op, mlir::func::FuncOp func);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_EXPORT_OUTLINECOMPUTATION_H
