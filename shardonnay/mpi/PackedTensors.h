//===- PackedTensors.h - spmd.pack and unpack on tensors --------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MPI_PACKEDTENSORS_H
#define SHARDONNAY_MPI_PACKEDTENSORS_H

#include "shardonnay/dialect/spmd/Ops.h"

namespace shardonnay {

/// What replaces the op's results, of ops of tensor, linalg and arith.
mlir::Value buildPack(mlir::OpBuilder &builder, mlir::spmd::PackOp op);
llvm::SmallVector<mlir::Value> buildUnpack(mlir::OpBuilder &builder,
                                           mlir::spmd::UnpackOp op);

} // namespace shardonnay

#endif // SHARDONNAY_MPI_PACKEDTENSORS_H
