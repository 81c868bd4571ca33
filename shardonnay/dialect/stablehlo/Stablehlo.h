//===- Stablehlo.h - the StableHLO-compatible dialect -----------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_STABLEHLO_H
#define SHARDONNAY_DIALECT_STABLEHLO_STABLEHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "shardonnay/dialect/stablehlo/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "shardonnay/dialect/stablehlo/Attributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "shardonnay/dialect/stablehlo/Types.h.inc"

#include "shardonnay/dialect/stablehlo/Dialect.h.inc"

namespace mlir::stablehlo {

/// Whether each pair of types has one element type, and shapes that agree
/// wherever both sizes are known.
bool areCompatible(TypeRange a, TypeRange b);

class ReturnOp; // named by traits of other families

/// What an absent `result_accuracy` means.
ResultAccuracyAttr defaultAccuracy(MLIRContext *context);

} // namespace mlir::stablehlo

#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Elementwise.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Shape.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Dot.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Reduce.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Gather.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Control.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/stablehlo/Collective.h.inc"

#endif // SHARDONNAY_DIALECT_STABLEHLO_STABLEHLO_H
