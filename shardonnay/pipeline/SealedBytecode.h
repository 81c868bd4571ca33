//===- SealedBytecode.h - bytecode that shows damage ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's reader of bytecode believes the counts and offsets in a file: a
// damaged file can make it write where it must not. So what we write carries a
// checksum (in the header's name of the producer, which any MLIR reads over),
// and what we read is checked before MLIR sees it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_SEALEDBYTECODE_H
#define SHARDONNAY_PIPELINE_SEALEDBYTECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace shardonnay {

/// Writes `module` as bytecode with a checksum to `bytes`.
llvm::LogicalResult writeSealedBytecode(mlir::ModuleOp module,
                                        std::string &bytes);

/// Reads and verifies bytecode. Null, and an error on the context, if it is
/// damaged. Bytecode without a checksum (`sdy-opt --emit-bytecode` writes such)
/// is read by a process of its own, of which nothing but a program comes back.
mlir::OwningOpRef<mlir::ModuleOp> readBytecode(llvm::StringRef bytes,
                                               llvm::StringRef name,
                                               mlir::MLIRContext &context);

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_SEALEDBYTECODE_H
