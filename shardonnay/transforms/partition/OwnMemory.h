//===- OwnMemory.h - an arena for the ops of local programs -----*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By the time a program is partitioned, ops have been erased all over it. New
// ones get these holes, in no order of theirs: a walk over 440,000 new ops took
// 49 ms, where one after the other they take 8 ms, and so do all later passes.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PARTITION_OWNMEMORY_H
#define SHARDONNAY_TRANSFORMS_PARTITION_OWNMEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace shardonnay {

/// Calls `remake` for one function after the other until it fails. If the
/// program is not all in the cache, that is done in a thread, to which glibc
/// gives an arena of its own, so that no holes are filled. Diagnostics come in
/// this thread all the same.
mlir::LogicalResult remakeInOwnMemory(
    mlir::ModuleOp module,
    llvm::function_ref<mlir::LogicalResult(mlir::func::FuncOp)> remake);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_PARTITION_OWNMEMORY_H
