//===- UnusedSymbols.h - what nothing refers to -----------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_UNUSEDSYMBOLS_H
#define SHARDONNAY_INTERFACES_UNUSEDSYMBOLS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace shardonnay {

/// Erases the private symbols among those that `mayGo` that nothing refers to
/// from outside of them; false if there are none. The module is read once,
/// however many symbols it has, and not at all if none may go.
bool eraseUnusedSymbols(
    mlir::ModuleOp module,
    llvm::function_ref<bool(mlir::SymbolOpInterface)> mayGo);

} // namespace shardonnay

#endif // SHARDONNAY_INTERFACES_UNUSEDSYMBOLS_H
