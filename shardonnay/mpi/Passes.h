//===- Passes.h - from spmd to calls of the MPI runtime ---------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_MPI_PASSES_H
#define SHARDONNAY_MPI_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace shardonnay {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardonnay/mpi/Passes.h.inc"

} // namespace shardonnay

#endif // SHARDONNAY_MPI_PASSES_H
