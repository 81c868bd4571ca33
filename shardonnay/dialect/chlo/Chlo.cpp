//===- Chlo.cpp - the dialect and its attributes --------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/chlo/Chlo.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::chlo;

#include "shardonnay/dialect/chlo/Dialect.cpp.inc"
#include "shardonnay/dialect/chlo/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "shardonnay/dialect/chlo/Attributes.cpp.inc"

void ChloDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardonnay/dialect/chlo/Attributes.cpp.inc"
      >();
  addElementwiseOps();
  addBroadcastOps();
  addStructuredOps();
}

Operation *ChloDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}
