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

namespace {

/// The groups of many devices are long, and most collectives share theirs with
/// others: they are printed once, in front of the module.
class GroupAliases : public OpAsmDialectInterface {
public:
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    auto rows = dyn_cast<DenseIntElementsAttr>(attr);
    if (!rows || rows.isSplat() || rows.getType().getRank() != 2 ||
        !rows.getElementType().isInteger(64) ||
        rows.getNumElements() < kFewestElements)
      return AliasResult::NoAlias;
    os << "groups";
    return AliasResult::FinalAlias;
  }

private:
  static constexpr int64_t kFewestElements = 128;
};

} // namespace

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
  addInterfaces<GroupAliases>();
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
  addNormOps();
  addDynamicOps();
  addQuantizeOps();
  addLegacyOps();
}

Operation *StablehloDialect::materializeConstant(OpBuilder &builder,
                                                 Attribute value, Type type,
                                                 Location loc) {
  // A token says of nothing that it came before: all that is known without one.
  if (isa<TokenType>(type) && isa<UnitAttr>(value))
    return CreateTokenOp::create(builder, loc, type);
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// `4, ?` up to `end`, which is not consumed.
static ParseResult parseBounds(AsmParser &parser,
                               AsmParser::Delimiter delimiter,
                               SmallVector<int64_t> &bounds) {
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      bounds.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(bounds.emplace_back());
  });
}

Attribute BoundsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> bounds;
  if (parseBounds(parser, AsmParser::Delimiter::LessGreater, bounds))
    return {};
  return BoundsAttr::get(parser.getContext(), bounds);
}

void BoundsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getBounds(), printer, [&](int64_t bound) {
    if (ShapedType::isDynamic(bound))
      printer << '?';
    else
      printer << bound;
  });
  printer << '>';
}

Attribute TypeExtensionsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> bounds;
  if (parser.parseLess() || parser.parseKeyword("bounds") ||
      parser.parseEqual() ||
      parseBounds(parser, AsmParser::Delimiter::Square, bounds) ||
      parser.parseGreater())
    return {};
  return BoundsAttr::get(parser.getContext(), bounds);
}

// Never made: its text is that of bounds.
void TypeExtensionsAttr::print(AsmPrinter &printer) const {
  BoundsAttr::get(getContext(), getBounds()).print(printer);
}

LogicalResult
BoundsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                           function_ref<InFlightDiagnostic()> emitError) const {
  if (getBounds().size() != shape.size())
    return emitError() << "expected a bound or '?' for each of " << shape.size()
                       << " dims, got " << getBounds().size();
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!ShapedType::isDynamic(size) &&
        !ShapedType::isDynamic(getBounds()[dim]))
      return emitError() << "dim " << dim << " has the known size " << size
                         << " and the bound " << getBounds()[dim]
                         << ", expected '?' in its place";
  return success();
}

ResultAccuracyAttr stablehlo::defaultAccuracy(MLIRContext *context) {
  return ResultAccuracyAttr::get(
      context, llvm::APFloat(0.0), llvm::APFloat(0.0), /*ulps=*/0,
      ResultAccuracyModeAttr::get(context, ResultAccuracyMode::DEFAULT));
}
