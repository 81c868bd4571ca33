//===- CallOrder.h - functions after those that they call -----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_IMPORT_CALLORDER_H
#define SHARDONNAY_TRANSFORMS_IMPORT_CALLORDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "shardonnay/interfaces/OpKinds.h"

namespace shardonnay {

/// The function with a body that `call` calls; null for another one.
mlir::func::FuncOp getCallee(mlir::CallOpInterface call,
                             mlir::SymbolTable &symbols);

/// All functions of `module`, each after those that it calls. Recursion is an
/// error at the call that closes the circle. `kinds` are those of the module.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
orderCalleesFirst(mlir::ModuleOp module, mlir::SymbolTable &symbols,
                  const OpKinds &kinds);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_IMPORT_CALLORDER_H
