//===- Assembly.cpp - parts of the ops' text ------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/dialect/stablehlo/Assembly.h"

using namespace mlir;
using namespace mlir::stablehlo;

//===----------------------------------------------------------------------===//
// Attribute fields
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>> stablehlo::parseDims(AsmParser &parser) {
  SmallVector<int64_t> dims;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(dims.emplace_back());
      }))
    return failure();
  return dims;
}

void stablehlo::printDims(AsmPrinter &printer, ArrayRef<int64_t> dims) {
  printer << '[';
  llvm::interleaveComma(dims, printer);
  printer << ']';
}

FailureOr<bool> stablehlo::parseFlag(AsmParser &parser) {
  if (succeeded(parser.parseOptionalKeyword("true")))
    return true;
  if (parser.parseKeyword("false"))
    return failure();
  return false;
}

FailureOr<llvm::APFloat> stablehlo::parseTolerance(AsmParser &parser) {
  double value;
  if (parser.parseFloat(value))
    return failure();
  return llvm::APFloat(value);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Takes `type`, parsed at `loc`, apart if it is a function type: operand types
/// first, then result types. False with an error if their number is another.
static FailureOr<bool> assignFunctionType(OpAsmParser &parser, SMLoc loc,
                                          Type type,
                                          ArrayRef<Type *> operandsAndResult) {
  auto function = dyn_cast<FunctionType>(type);
  if (!function)
    return false;
  if (function.getNumInputs() != operandsAndResult.size() - 1 ||
      function.getNumResults() != 1)
    return parser.emitError(loc, "expected ")
           << operandsAndResult.size() - 1
           << " operand types and one result type, got " << type;
  for (auto [target, input] :
       llvm::zip(operandsAndResult.drop_back(), function.getInputs()))
    *target = input;
  *operandsAndResult.back() = function.getResult(0);
  return true;
}

ParseResult stablehlo::parseTypes(OpAsmParser &parser, ArrayRef<Type *> types) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  FailureOr<bool> assigned = assignFunctionType(parser, loc, type, types);
  if (failed(assigned))
    return failure();
  if (!*assigned)
    for (Type *target : types)
      *target = type;
  return success();
}

void stablehlo::printTypes(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::all_equal(types))
    printer << types.back();
  else
    printer.printFunctionalType(types.drop_back(), types.take_back());
}

ParseResult stablehlo::parsePairedTypes(OpAsmParser &parser,
                                        SmallVectorImpl<Type> &operands,
                                        SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  auto function = operands.size() == 1 ? dyn_cast<FunctionType>(operands[0])
                                       : FunctionType();
  if (!function) {
    results.assign(operands.begin(), operands.end());
    return success();
  }
  operands.assign(function.getInputs().begin(), function.getInputs().end());
  results.assign(function.getResults().begin(), function.getResults().end());
  return success();
}

void stablehlo::printPairedTypes(OpAsmPrinter &printer, Operation *,
                                 TypeRange operands, TypeRange results) {
  if (operands == results)
    llvm::interleaveComma(operands, printer);
  else
    printer.printFunctionalType(operands, results);
}

/// The type of the real parts of `type`'s elements; null if they have none.
static Type realPartType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element =
      tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  return element ? tensor.clone(element.getElementType()) : Type();
}

ParseResult stablehlo::parseComplexTypes(OpAsmParser &parser, Type &lhs,
                                         Type &rhs, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  FailureOr<bool> assigned =
      assignFunctionType(parser, loc, result, {&lhs, &rhs, &result});
  if (failed(assigned))
    return failure();
  if (*assigned)
    return success();
  lhs = rhs = realPartType(result);
  if (!lhs)
    return parser.emitError(loc, "expected a tensor of complex, got ")
           << result;
  return success();
}

void stablehlo::printComplexTypes(OpAsmPrinter &printer, Operation *, Type lhs,
                                  Type rhs, Type result) {
  if (Type part = realPartType(result); part == lhs && part == rhs)
    printer << result;
  else
    printer.printFunctionalType(TypeRange{lhs, rhs}, TypeRange{result});
}

ParseResult stablehlo::parseSelectTypes(OpAsmParser &parser, Type &pred,
                                        Type &onTrue, Type &onFalse,
                                        Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(pred))
    return failure();
  FailureOr<bool> assigned = assignFunctionType(
      parser, loc, pred, {&pred, &onTrue, &onFalse, &result});
  if (failed(assigned))
    return failure();
  if (*assigned)
    return success();
  if (parser.parseComma() || parser.parseType(result))
    return failure();
  onTrue = onFalse = result;
  return success();
}

void stablehlo::printSelectTypes(OpAsmPrinter &printer, Operation *, Type pred,
                                 Type onTrue, Type onFalse, Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(TypeRange{pred, onTrue, onFalse},
                                TypeRange{result});
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

ParseResult stablehlo::parseOperandsThenComma(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (!parsed.has_value())
      return success();
    if (failed(*parsed) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

void stablehlo::printOperandsThenComma(OpAsmPrinter &printer, Operation *,
                                       OperandRange operands) {
  llvm::interleave(
      operands, printer, [&](Value operand) { printer << operand << ','; },
      " ");
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

ParseResult stablehlo::parseFloatFormat(OpAsmParser &parser,
                                        IntegerAttr &exponentBits,
                                        IntegerAttr &mantissaBits) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef format;
  if (parser.parseKeyword(&format))
    return failure();
  StringRef rest = format;
  int32_t exponent, mantissa;
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponent) ||
      !rest.consume_front("m") || rest.consumeInteger(10, mantissa) ||
      !rest.empty())
    return parser.emitError(loc, "expected a float format such as e5m10, got ")
           << format;
  exponentBits = parser.getBuilder().getI32IntegerAttr(exponent);
  mantissaBits = parser.getBuilder().getI32IntegerAttr(mantissa);
  return success();
}

void stablehlo::printFloatFormat(OpAsmPrinter &printer, Operation *,
                                 IntegerAttr exponentBits,
                                 IntegerAttr mantissaBits) {
  printer << 'e' << exponentBits.getInt() << 'm' << mantissaBits.getInt();
}

ParseResult stablehlo::parseSliceRanges(OpAsmParser &parser,
                                        DenseI64ArrayAttr &starts,
                                        DenseI64ArrayAttr &limits,
                                        DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> start, limit, stride;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        stride.push_back(1);
        return failure(parser.parseInteger(start.emplace_back()) ||
                       parser.parseColon() ||
                       parser.parseInteger(limit.emplace_back()) ||
                       (succeeded(parser.parseOptionalColon()) &&
                        parser.parseInteger(stride.back())));
      }))
    return failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(start);
  limits = parser.getBuilder().getDenseI64ArrayAttr(limit);
  strides = parser.getBuilder().getDenseI64ArrayAttr(stride);
  return success();
}

void stablehlo::printSliceRanges(OpAsmPrinter &printer, Operation *,
                                 DenseI64ArrayAttr starts,
                                 DenseI64ArrayAttr limits,
                                 DenseI64ArrayAttr strides) {
  printer << '[';
  llvm::interleaveComma(
      llvm::zip(starts.asArrayRef(), limits.asArrayRef(), strides.asArrayRef()),
      printer, [&](auto range) {
        auto [start, limit, stride] = range;
        printer << start << ':' << limit;
        if (stride != 1)
          printer << ':' << stride;
      });
  printer << ']';
}

/// `[0, 2] x [0, 1]`
static ParseResult parseDimPairs(OpAsmParser &parser, SmallVector<int64_t> &lhs,
                                 SmallVector<int64_t> &rhs) {
  FailureOr<SmallVector<int64_t>> left = parseDims(parser);
  if (failed(left) || parser.parseKeyword("x"))
    return failure();
  FailureOr<SmallVector<int64_t>> right = parseDims(parser);
  if (failed(right))
    return failure();
  lhs = std::move(*left);
  rhs = std::move(*right);
  return success();
}

static ParseResult parsePrecision(OpAsmParser &parser, ArrayAttr &precision) {
  SmallVector<Attribute> operands;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        FailureOr<Precision> value = FieldParser<Precision>::parse(parser);
        if (failed(value))
          return failure();
        operands.push_back(PrecisionAttr::get(parser.getContext(), *value));
        return success();
      }))
    return failure();
  precision = parser.getBuilder().getArrayAttr(operands);
  return success();
}

static void printPrecision(OpAsmPrinter &printer, ArrayAttr precision) {
  printer << ", precision = [";
  llvm::interleaveComma(precision.getAsRange<PrecisionAttr>(), printer,
                        [&](PrecisionAttr operand) {
                          printer << stringifyPrecision(operand.getValue());
                        });
  printer << ']';
}

ParseResult stablehlo::parsePrecisionList(OpAsmParser &parser,
                                          ArrayAttr &precision) {
  if (parser.parseOptionalComma())
    return success();
  return failure(parser.parseKeyword("precision") || parser.parseEqual() ||
                 parsePrecision(parser, precision));
}

void stablehlo::printPrecisionList(OpAsmPrinter &printer, Operation *,
                                   ArrayAttr precision) {
  if (precision)
    printPrecision(printer, precision);
}

ParseResult stablehlo::parseDotAttributes(OpAsmParser &parser,
                                          DotDimensionNumbersAttr &numbers,
                                          ArrayAttr &precision,
                                          DotAlgorithmAttr &algorithm) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parser.parseEqual() || parseDimPairs(parser, lhsBatching, rhsBatching) ||
       parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") || parser.parseEqual() ||
      parseDimPairs(parser, lhsContracting, rhsContracting))
    return failure();
  numbers =
      DotDimensionNumbersAttr::get(parser.getContext(), lhsBatching,
                                   rhsBatching, lhsContracting, rhsContracting);
  bool more = succeeded(parser.parseOptionalComma());
  if (more && succeeded(parser.parseOptionalKeyword("precision"))) {
    if (parser.parseEqual() || parsePrecision(parser, precision))
      return failure();
    more = succeeded(parser.parseOptionalComma());
  }
  if (more && (parser.parseKeyword("algorithm") || parser.parseEqual() ||
               parser.parseCustomAttributeWithFallback(algorithm)))
    return failure();
  return success();
}

void stablehlo::printDotAttributes(OpAsmPrinter &printer, Operation *,
                                   DotDimensionNumbersAttr numbers,
                                   ArrayAttr precision,
                                   DotAlgorithmAttr algorithm) {
  auto printPairs = [&](ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    printDims(printer, lhs);
    printer << " x ";
    printDims(printer, rhs);
  };
  if (!numbers.getLhsBatchingDimensions().empty() ||
      !numbers.getRhsBatchingDimensions().empty()) {
    printer << "batching_dims = ";
    printPairs(numbers.getLhsBatchingDimensions(),
               numbers.getRhsBatchingDimensions());
    printer << ", ";
  }
  printer << "contracting_dims = ";
  printPairs(numbers.getLhsContractingDimensions(),
             numbers.getRhsContractingDimensions());
  if (precision)
    printPrecision(printer, precision);
  if (algorithm) {
    printer << ", algorithm = ";
    printer.printStrippedAttrOrType(algorithm);
  }
}

ParseResult stablehlo::parseDimList(OpAsmParser &parser,
                                    DenseI64ArrayAttr &dims) {
  FailureOr<SmallVector<int64_t>> values = parseDims(parser);
  if (failed(values))
    return failure();
  dims = parser.getBuilder().getDenseI64ArrayAttr(*values);
  return success();
}

void stablehlo::printDimList(OpAsmPrinter &printer, Operation *,
                             DenseI64ArrayAttr dims) {
  printDims(printer, dims);
}

//===----------------------------------------------------------------------===//
// Custom calls, composites, tuples, tokens
//===----------------------------------------------------------------------===//

ParseResult stablehlo::parseCallTarget(OpAsmParser &parser,
                                       StringAttr &target) {
  return parser.parseSymbolName(target);
}

void stablehlo::printCallTarget(OpAsmPrinter &printer, Operation *,
                                StringAttr target) {
  printer.printSymbolName(target.getValue());
}

ParseResult
stablehlo::parseRegions(OpAsmParser &parser,
                        SmallVectorImpl<std::unique_ptr<Region>> &regions) {
  if (parser.parseOptionalLParen())
    return success();
  do {
    if (parser.parseRegion(*regions.emplace_back(std::make_unique<Region>())))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseRParen();
}

void stablehlo::printRegions(OpAsmPrinter &printer, Operation *,
                             RegionRange regions) {
  if (regions.empty())
    return;
  printer << " (";
  llvm::interleaveComma(regions, printer,
                        [&](Region *region) { printer.printRegion(*region); });
  printer << ')';
}

ParseResult stablehlo::parseTupleType(OpAsmParser &parser,
                                      SmallVectorImpl<Type> &operands,
                                      Type &result) {
  TupleType tuple;
  if (parser.parseType(tuple))
    return failure();
  operands.append(tuple.begin(), tuple.end());
  result = tuple;
  return success();
}

void stablehlo::printTupleType(OpAsmPrinter &printer, Operation *, TypeRange,
                               Type result) {
  printer << result;
}

ParseResult
stablehlo::parseRepeatedType(OpAsmParser &parser,
                             ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                             Types &types, Type &result) {
  if (parser.parseType(result))
    return failure();
  types.assign(operands.size(), result);
  return success();
}

void stablehlo::printRepeatedType(OpAsmPrinter &printer, Operation *,
                                  OperandRange, TypeRange, Type result) {
  printer << result;
}
