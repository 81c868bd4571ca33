//===- LocalCompute.cpp
//-------------------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/LocalCompute.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

llvm::SmallVector<Value> shardonnay::cloneLocally(Operation *op,
                                                  OpBuilder &builder,
                                                  ValueRange operands,
                                                  const LocalContext &context) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(context.resultTypes());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  // `sdy.sharding` and its like speak of global types.
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (!attr.getName().getValue().starts_with("sdy."))
      state.addAttribute(attr.getName(), attr.getValue());
  for (Region &region : op->getRegions()) {
    IRMapping mapping;
    region.cloneInto(state.addRegion(), mapping);
  }
  return llvm::to_vector_of<Value>(builder.create(state)->getResults());
}

#include "shardonnay/interfaces/LocalCompute.cpp.inc"
