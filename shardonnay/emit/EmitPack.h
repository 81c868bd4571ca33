//===- EmitPack.h - tensors laid one after the other ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `spmd.pack` and `spmd.unpack` in StableHLO. Of n pieces, what is packed is a
// tensor [n, total] in row-major order: row i has piece i of each tensor. To
// get there, n becomes a dim of its own of each tensor, and the first one.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_EMITPACK_H
#define SHARDONNAY_EMIT_EMITPACK_H

#include "shardonnay/dialect/spmd/Ops.h"

namespace shardonnay {

/// What `op` packs.
mlir::Value emitPack(mlir::OpBuilder &builder, mlir::spmd::PackOp op);

/// The results of `op`.
llvm::SmallVector<mlir::Value> emitUnpack(mlir::OpBuilder &builder,
                                          mlir::spmd::UnpackOp op);

} // namespace shardonnay

#endif // SHARDONNAY_EMIT_EMITPACK_H
