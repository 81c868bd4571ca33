//===- ConstantExpression.h - what constants may pass through -------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_INTERFACES_CONSTANTEXPRESSION_H
#define SHARDONNAY_INTERFACES_CONSTANTEXPRESSION_H

#include "mlir/IR/OpDefinition.h"

#include "shardonnay/interfaces/ConstantExpression.h.inc"

#endif // SHARDONNAY_INTERFACES_CONSTANTEXPRESSION_H
