//===- Unpartitioned.h - the program without its shardings ------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_UNPARTITIONED_H
#define SHARDONNAY_PIPELINE_UNPARTITIONED_H

#include "mlir/IR/BuiltinOps.h"

namespace shardonnay {

/// Makes of a program as the user wrote it what one device would run: without
/// meshes, shardings, constraints and reshards. Fails, with an error, where an
/// op has no meaning without them.
llvm::LogicalResult dropShardings(mlir::ModuleOp module);

} // namespace shardonnay

#endif // SHARDONNAY_PIPELINE_UNPARTITIONED_H
