//===- LocalCompute.cpp ---------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/interfaces/LocalCompute.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

/// `sdy.sharding` and its like speak of global types.
static bool speaksOfShardings(NamedAttribute attr) {
  return attr.getName().getValue().starts_with("sdy.");
}

static void dropShardings(Operation *op) {
  for (NamedAttribute attr :
       llvm::to_vector(op->getDiscardableAttrDictionary()))
    if (speaksOfShardings(attr))
      op->removeDiscardableAttr(attr.getName());
}

llvm::SmallVector<Value> shardonnay::cloneLocally(Operation *op,
                                                  OpBuilder &builder,
                                                  ValueRange operands,
                                                  const LocalContext &context) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(context.resultTypes());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (!speaksOfShardings(attr))
      state.addAttribute(attr.getName(), attr.getValue());
  for (Region &region : op->getRegions()) {
    IRMapping mapping;
    Region *copy = state.addRegion();
    region.cloneInto(copy, mapping);
    copy->walk(dropShardings);
  }
  return llvm::to_vector_of<Value>(builder.create(state)->getResults());
}

#include "shardonnay/interfaces/LocalCompute.cpp.inc"
