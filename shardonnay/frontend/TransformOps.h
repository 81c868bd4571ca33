//===- TransformOps.h - scripts that edit shardings -------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of MLIR's transform dialect. A script edits the program as it was given,
// then has it propagated or partitioned; `sdy-opt` runs it
// (`--transform-interpreter`).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_TRANSFORMOPS_H
#define SHARDONNAY_FRONTEND_TRANSFORMOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/dialect/sdy/Attributes.h"

#define GET_OP_CLASSES
#include "shardonnay/frontend/TransformOps.h.inc"

namespace shardonnay {

/// The transform dialect with these ops.
void registerTransformOps(mlir::DialectRegistry &registry);
/// The interpreter of scripts.
void registerTransformPasses();

} // namespace shardonnay

#endif // SHARDONNAY_FRONTEND_TRANSFORMOPS_H
