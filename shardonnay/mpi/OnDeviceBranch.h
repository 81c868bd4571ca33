//===- OnDeviceBranch.h - what one device computes, as a branch -*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MPI_ONDEVICEBRANCH_H
#define SHARDONNAY_MPI_ONDEVICEBRANCH_H

#include "shardonnay/dialect/spmd/Ops.h"

namespace shardonnay {

/// An `scf.if` in the place of `op`, on whether `device` (an `index`: this
/// device) is the op's. Nothing inside communicates, so devices may go
/// different ways.
void branchOnDevice(mlir::OpBuilder &builder, mlir::spmd::OnDeviceOp op,
                    mlir::Value device);

} // namespace shardonnay

#endif // SHARDONNAY_MPI_ONDEVICEBRANCH_H
