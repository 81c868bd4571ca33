//===- Reducer.h - the smallest program that still does it ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What may be done to an op: leave it out if nothing uses it; put an operand of
// the same type, or a zero, in the place of its result; take the shardings off
// it. To reduce a program: do these to half of its ops at once, then to each
// quarter, and so on to each op, keep what is still interesting, and begin
// again until nothing is.
//
// (MLIR 22's own pass, `reduction-tree`, crashes as soon as it leaves out an op
// that has uses.)
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TOOLS_SDYREDUCE_REDUCER_H
#define SHARDONNAY_TOOLS_SDYREDUCE_REDUCER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace shardonnay {

/// Whether a program still shows what is looked for. It is asked about valid
/// programs only.
using IsInteresting = llvm::function_ref<bool(mlir::ModuleOp)>;

/// A program that is interesting, if `module` is, and in which no op can be
/// reduced further without losing that.
mlir::OwningOpRef<mlir::ModuleOp> reduce(mlir::ModuleOp module,
                                         IsInteresting isInteresting);

} // namespace shardonnay

#endif // SHARDONNAY_TOOLS_SDYREDUCE_REDUCER_H
