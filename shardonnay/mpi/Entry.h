//===- Entry.h - the program as a function on buffers -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MPI_ENTRY_H
#define SHARDONNAY_MPI_ENTRY_H

#include "mlir/IR/BuiltinOps.h"

namespace shardonnay {

/// Makes the first public function @shardonnay_program: a buffer for each
/// argument, which is only read, then one for each result. Fails, with an
/// error, if something else than tensors of a known shape crosses its boundary.
llvm::LogicalResult makeEntry(mlir::ModuleOp module);

/// The ops of `sdy` and `spmd` but meshes and terminators, those inside an op
/// before it.
llvm::SmallVector<mlir::Operation *> findToEmit(mlir::ModuleOp module);

/// Takes away the attributes of dialects that `mlir-opt` does not know.
void dropForeignAttributes(mlir::ModuleOp module);

/// Fails, with an error at it, if an op is of a dialect that has no lowering.
llvm::LogicalResult checkDialects(mlir::ModuleOp module);

} // namespace shardonnay

#endif // SHARDONNAY_MPI_ENTRY_H
