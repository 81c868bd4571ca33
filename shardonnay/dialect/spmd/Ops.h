//===- Ops.h - the spmd dialect: the program of one device ----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SPMD_OPS_H
#define SHARDONNAY_DIALECT_SPMD_OPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/dialect/sdy/Attributes.h"
#include "shardonnay/interfaces/LocalCompute.h"
#include "shardonnay/interfaces/ShardingRule.h"
#include "shardonnay/plan/WindowPlan.h"

#include "shardonnay/dialect/spmd/Dialect.h.inc"

#define GET_OP_CLASSES
#include "shardonnay/dialect/spmd/Ops.h.inc"

namespace mlir::spmd {

/// What `op` asks for; `mesh` is the one that it names, null if it names none.
shardonnay::WindowProblem getWindowProblem(FetchWindowOp op,
                                           sdy::MeshAttr mesh);

} // namespace mlir::spmd

#endif // SHARDONNAY_DIALECT_SPMD_OPS_H
