//===- Callee.h - what a call calls -----------------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ACCESS_CALLEE_H
#define SHARDONNAY_DIALECT_SDY_ACCESS_CALLEE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sdy {

/// The function with a body that `call` calls; null if there is none.
inline func::FuncOp getCalleeWithBody(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  return callee && !callee.isExternal() ? callee : func::FuncOp();
}

} // namespace mlir::sdy

#endif // SHARDONNAY_DIALECT_SDY_ACCESS_CALLEE_H
