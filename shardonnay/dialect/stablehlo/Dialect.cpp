//===- Dialect.cpp - the dialect, its attributes and types ----------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "shardonnay/dialect/stablehlo/Assembly.h"
#include "shardonnay/interfaces/ForeignBytecode.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::stablehlo;

#include "shardonnay/dialect/stablehlo/Dialect.cpp.inc"
#include "shardonnay/dialect/stablehlo/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "shardonnay/dialect/stablehlo/Attributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "shardonnay/dialect/stablehlo/Types.cpp.inc"

void StablehloDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardonnay/dialect/stablehlo/Attributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "shardonnay/dialect/stablehlo/Types.cpp.inc"
      >();
  shardonnay::addForeignBytecodeRefusal(*this);
  addElementwiseOps();
  addShapeOps();
  addDotOps();
  addReduceOps();
  addGatherOps();
  addControlOps();
  addBatchedOps();
  addRandomOps();
  addCollectiveOps();
  addConvolutionOps();
  addWindowOps();
  addCustomOps();
  addTransferOps();
}

Operation *StablehloDialect::materializeConstant(OpBuilder &builder,
                                                 Attribute value, Type type,
                                                 Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

ResultAccuracyAttr stablehlo::defaultAccuracy(MLIRContext *context) {
  return ResultAccuracyAttr::get(
      context, llvm::APFloat(0.0), llvm::APFloat(0.0), /*ulps=*/0,
      ResultAccuracyModeAttr::get(context, ResultAccuracyMode::DEFAULT));
}
