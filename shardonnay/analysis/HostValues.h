//===- HostValues.h - what is in the memory of hosts ------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function says so of its arguments and results (`mhlo.memory_kind`), ops
// that move say it of what they return (LocalComputeOpInterface::movesTo), and
// between them it is followed: through loops and barriers, into the buffer that
// what was moved is written to, and out of it up to the move back to the
// device.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_ANALYSIS_HOSTVALUES_H
#define SHARDONNAY_ANALYSIS_HOSTVALUES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace shardonnay {

/// The values that take no memory of a device.
llvm::DenseSet<mlir::Value> findHostValues(mlir::ModuleOp module);

bool isHostArgument(mlir::func::FuncOp func, unsigned number);
bool isHostResult(mlir::func::FuncOp func, unsigned number);

} // namespace shardonnay

#endif // SHARDONNAY_ANALYSIS_HOSTVALUES_H
