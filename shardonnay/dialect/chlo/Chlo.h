//===- Chlo.h - functions beyond StableHLO ----------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_CHLO_CHLO_H
#define SHARDONNAY_DIALECT_CHLO_CHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"

namespace mlir::chlo {
using stablehlo::MaybeLoc, stablehlo::Types;
} // namespace mlir::chlo

#include "shardonnay/dialect/chlo/Dialect.h.inc"

#include "shardonnay/dialect/chlo/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "shardonnay/dialect/chlo/Attributes.h.inc"

#define GET_OP_CLASSES
#include "shardonnay/dialect/chlo/Elementwise.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/chlo/Broadcast.h.inc"
#define GET_OP_CLASSES
#include "shardonnay/dialect/chlo/Structured.h.inc"

#endif // SHARDONNAY_DIALECT_CHLO_CHLO_H
