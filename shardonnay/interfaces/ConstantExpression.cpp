//===- ConstantExpression.cpp ---------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/ConstantExpression.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

#include "shardonnay/interfaces/ConstantExpression.cpp.inc"

namespace shardonnay {

bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

bool isScalarExpansion(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() <= 1 ||
      !llvm::all_of(op->getOperandTypes(), isScalar))
    return false;
  auto expression = dyn_cast<ConstantExpressionOpInterface>(op);
  return expression && expression.isConstantExpression() && isPure(op);
}

} // namespace shardonnay
