//===- Scan.cpp - slice after slice ---------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "shardonnay/dialect/chlo/Chlo.h"
#include "shardonnay/dialect/stablehlo/Constraints.h"

using namespace mlir;
using namespace mlir::chlo;
using stablehlo::checkCount;

void ScanOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setNameFn) {
  if (region.empty())
    return;
  for (BlockArgument argument : region.getArguments())
    setNameFn(argument,
              argument.getArgNumber() < getInputs().size() ? "input" : "carry");
}

//===----------------------------------------------------------------------===//
// Text: `chlo.scan(%x) inits (%c) dimension=0 attributes {..} {body} : types`
//===----------------------------------------------------------------------===//

void ScanOp::print(OpAsmPrinter &p) {
  p << '(' << getInputs() << ") inits (" << getInits()
    << ") dimension=" << getDimension() << ' ';
  p.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {"dimension", "operandSegmentSizes", "resultSegmentSizes"});
  p << ' ';
  p.printRegion(getBody());
  p << " : ";
  p.printFunctionalType(*this);
}

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

/// How many of the results, of which there are `count`, are carries.
static ParseResult setSegments(OpAsmParser &parser, SMLoc loc,
                               ScanOp::Properties &properties, size_t inputs,
                               size_t inits, size_t results) {
  if (results < inits)
    return parser.emitError(loc, "expected the final values of ")
           << inits << " carries, got " << results << " results";
  properties.operandSegmentSizes = {static_cast<int32_t>(inputs),
                                    static_cast<int32_t>(inits)};
  properties.resultSegmentSizes = {static_cast<int32_t>(results - inits),
                                   static_cast<int32_t>(inits)};
  return success();
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  Operands inputs, inits;
  SMLoc operandLoc = parser.getCurrentLocation();
  IntegerAttr dimension;
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("dimension") || parser.parseEqual() ||
      parser.parseAttribute(dimension, parser.getBuilder().getI64Type()) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion()))
    return failure();
  SMLoc typeLoc = parser.getCurrentLocation();
  FunctionType type;
  size_t numInputs = inputs.size(), numInits = inits.size();
  inputs.append(inits);
  if (parser.parseColonType(type) ||
      parser.resolveOperands(inputs, type.getInputs(), operandLoc,
                             result.operands))
    return failure();
  result.addTypes(type.getResults());
  auto &properties = result.getOrAddProperties<Properties>();
  properties.dimension = dimension;
  return setSegments(parser, typeLoc, properties, numInputs, numInits,
                     type.getNumResults());
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// That `whole` without dim `dim`, of size `size`, is `slice`. A `size` that is
/// unknown becomes that of `whole`.
static LogicalResult checkSlice(ScanOp op, StringRef what, Type whole,
                                Type slice, int64_t dim, int64_t &size) {
  auto type = cast<RankedTensorType>(whole);
  if (dim < 0 || dim >= type.getRank())
    return op.emitOpError("scans dim ")
           << dim << " of " << what << " of type " << type;
  if (!stablehlo::sizesMatch(type.getDimSize(dim), size))
    return op.emitOpError("scans ")
           << size << " slices, but " << what << " has " << type;
  if (ShapedType::isDynamic(size))
    size = type.getDimSize(dim);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  Type expected = RankedTensorType::get(shape, type.getElementType());
  if (!stablehlo::areCompatible(slice, expected))
    return op.emitOpError("expected slices of ")
           << what << " of type " << expected << " in the body, got " << slice;
  return success();
}

LogicalResult ScanOp::verify() {
  if (getInputs().empty() && getOutputs().empty())
    return emitOpError("expected inputs or outputs to scan along");
  if (failed(checkCount(getLoc(), "carries among the results, as initial ones",
                        getCarries().size(), getInits().size())))
    return failure();
  for (auto [init, carry] : llvm::zip(getInits(), getCarries()))
    if (!stablehlo::areCompatible(init.getType(), carry.getType()))
      return emitOpError("has a carry of type ")
             << init.getType() << " that becomes " << carry.getType();
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  Block &body = getBody().front();
  ValueRange returned = body.getTerminator()->getOperands();
  size_t numInputs = getInputs().size(), numOutputs = getOutputs().size();
  if (failed(checkCount(getLoc(), "arguments of the body",
                        body.getNumArguments(), getNumOperands())) ||
      failed(checkCount(getLoc(), "values that the body returns",
                        returned.size(), getNumResults())))
    return failure();
  int64_t dim = getDimension();
  int64_t size = getScanDimSize().value_or(ShapedType::kDynamic);
  for (auto [input, argument] : llvm::zip(getInputs(), body.getArguments()))
    if (failed(checkSlice(*this, "an input", input.getType(),
                          argument.getType(), dim, size)))
      return failure();
  for (auto [output, value] : llvm::zip(getOutputs(), returned))
    if (failed(checkSlice(*this, "an output", output.getType(), value.getType(),
                          dim, size)))
      return failure();
  for (auto [i, init] : llvm::enumerate(getInits()))
    for (Value value :
         {Value(body.getArgument(numInputs + i)), returned[numOutputs + i]})
      if (!stablehlo::areCompatible(value.getType(), init.getType()))
        return emitOpError("expected a carry of type ")
               << init.getType() << " in the body, got " << value.getType();
  return success();
}
