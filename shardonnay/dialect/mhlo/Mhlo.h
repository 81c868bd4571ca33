//===- Mhlo.h - what StableHLO's text keeps of HLO --------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_MHLO_MHLO_H
#define SHARDONNAY_DIALECT_MHLO_MHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "shardonnay/dialect/mhlo/Dialect.h.inc"

#define GET_OP_CLASSES
#include "shardonnay/dialect/mhlo/Ops.h.inc"

#endif // SHARDONNAY_DIALECT_MHLO_MHLO_H
