//===- ParseProgram.h - from text to a verified module ----------*- C++ -*-===//
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

/// Parses and verifies a module in MLIR text or bytecode. Null, and diagnostics
/// on the context, if it is not valid. What is wrong with an op whose location
/// names no file (JAX prints such, of functions that it caches) is reported at
/// its place in the text, which is called `name`.
mlir::OwningOpRef<mlir::ModuleOp> parseProgram(llvm::StringRef text,
                                               llvm::StringRef name,
                                               mlir::MLIRContext &context);

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_PARSEPROGRAM_H
