//===- ForeignBytecode.h - bytecode that others wrote -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Other projects have dialects of the same names as ours, whose attributes have
// other forms in bytecode. Their text is ours too; their bytecode is refused.
// (What holds attributes of builtin only has MLIR's own form, and is read.)
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_FOREIGNBYTECODE_H
#define SHARDONNAY_INTERFACES_FOREIGNBYTECODE_H

#include "mlir/IR/Dialect.h"

namespace mlir {
class DialectBytecodeReader;
} // namespace mlir

namespace shardonnay {

/// Emits the error: what was found and what to do.
void refuseForeignBytecode(mlir::DialectBytecodeReader &reader,
                           llvm::StringRef dialect);

/// For a dialect that is written as text in bytecode: whatever has another form
/// is refused.
void addForeignBytecodeRefusal(mlir::Dialect &dialect);

} // namespace shardonnay

#endif // SHARDONNAY_INTERFACES_FOREIGNBYTECODE_H
