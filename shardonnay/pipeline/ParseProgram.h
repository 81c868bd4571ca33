//===- ParseProgram.h - a module whose every op has a location --*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_PARSEPROGRAM_H
#define SHARDONNAY_PIPELINE_PARSEPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace shardonnay {

/// Parses and verifies a module in MLIR text or bytecode. An op of unknown
/// location (JAX prints such, of functions that it caches) gets its place in
/// the text, called `name`, before any diagnostic is emitted at it. Null, and
/// diagnostics on the context, if the module is not valid.
mlir::OwningOpRef<mlir::ModuleOp> parseProgram(llvm::StringRef text,
                                               llvm::StringRef name,
                                               mlir::MLIRContext &context);

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_PARSEPROGRAM_H
