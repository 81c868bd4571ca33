//===- Ops.h - operations of the sdy dialect ------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_OPS_H
#define SHARDONNAY_DIALECT_SDY_OPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/dialect/sdy/Attributes.h"
#include "shardonnay/interfaces/DataFlowEdge.h"

namespace shardonnay {
class LocalShard;
} // namespace shardonnay

#include "shardonnay/dialect/sdy/CollectiveInterface.h.inc"

namespace mlir::sdy {

/// The labels of canonical patterns.
inline constexpr llvm::StringLiteral kReshardPatterns("sdy-reshard");
inline constexpr llvm::StringLiteral kCollectivePatterns("sdy-collective");

} // namespace mlir::sdy

#define GET_OP_CLASSES
#include "shardonnay/dialect/sdy/Ops.h.inc"

#endif // SHARDONNAY_DIALECT_SDY_OPS_H
