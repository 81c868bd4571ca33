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

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  DenseIntElementsAttr deviceIds;
  if (parser.parseLess() || parser.parseKeyword("axes") ||
      parser.parseEqual() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] {
            return parser.parseCustomAttributeWithFallback(axes.emplace_back());
          }) ||
      (succeeded(parser.parseOptionalComma()) &&
       (parser.parseKeyword("device_ids") || parser.parseEqual() ||
        parser.parseAttribute(deviceIds))) ||
      parser.parseGreater())
    return {};
  if (axes.empty()) {
    parser.emitError(parser.getNameLoc(), "expected at least one axis");
    return {};
  }
  return get(parser.getContext(), axes, deviceIds);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<axes=[";
  llvm::interleaveComma(getAxes(), printer, [&](MeshAxisAttr axis) {
    printer.printStrippedAttrOrType(axis);
  });
  printer << ']';
  if (getDeviceIds())
    printer << ", device_ids=" << getDeviceIds();
  printer << '>';
}

LogicalResult
ReplicaGroupMeshAxesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Attribute mesh, ArrayAttr) {
  if (isa<FlatSymbolRefAttr, MeshAttr>(mesh))
    return success();
  return emitError() << "expected a mesh or the name of one, got " << mesh;
}

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
