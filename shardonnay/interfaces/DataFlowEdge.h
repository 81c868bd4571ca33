//===- DataFlowEdge.h - ops that only pass values on -------------*- C++
//-*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_DATAFLOWEDGE_H
#define SHARDONNAY_INTERFACES_DATAFLOWEDGE_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include "shardonnay/interfaces/DataFlowEdge.h.inc"

#endif // SHARDONNAY_INTERFACES_DATAFLOWEDGE_H
