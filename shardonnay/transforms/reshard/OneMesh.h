//===- OneMesh.h - the tensors of an op are on one mesh ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_ONEMESH_H
#define SHARDONNAY_TRANSFORMS_RESHARD_ONEMESH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace shardonnay {

/// Ops of `func` that compute have their tensors on one mesh after it: that of
/// most of them, of equals the first one. What is on another is resharded, axis
/// by axis where only the order of the devices differs, else whole.
void putOpsOnOneMesh(mlir::func::FuncOp func);

} // namespace shardonnay

#endif // SHARDONNAY_TRANSFORMS_RESHARD_ONEMESH_H
