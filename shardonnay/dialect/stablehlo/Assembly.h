//===- Assembly.h - parts of the ops' text ----------------------*- C++ -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Parsers and printers of the `custom<..>` directives and attribute fields in
// the .td files.
#ifndef SHARDONNAY_DIALECT_STABLEHLO_ASSEMBLY_H
#define SHARDONNAY_DIALECT_STABLEHLO_ASSEMBLY_H

#include "mlir/IR/DialectImplementation.h"
#include "shardonnay/dialect/stablehlo/Stablehlo.h"

namespace mlir::stablehlo {

// Attribute fields: `[0, 1]`, `true`, `1.0e-01`.
FailureOr<SmallVector<int64_t>> parseDims(AsmParser &parser);
void printDims(AsmPrinter &printer, ArrayRef<int64_t> dims);
FailureOr<bool> parseFlag(AsmParser &parser);
FailureOr<llvm::APFloat> parseTolerance(AsmParser &parser);

// `type` where all operands and results have it, else `(types) -> type`.
ParseResult parseTypes(OpAsmParser &parser, ArrayRef<Type *> types);
void printTypes(OpAsmPrinter &printer, ArrayRef<Type> types);
template <typename... Types>
ParseResult parseSameTypes(OpAsmParser &parser, Types &...types) {
  return parseTypes(parser, {&types...});
}
template <typename... Types>
void printSameTypes(OpAsmPrinter &printer, Operation *, Types... types) {
  printTypes(printer, {types...});
}

// `types` where the results have those of the operands, else
// `(types) -> (types)`.
ParseResult parsePairedTypes(OpAsmParser &parser,
                             SmallVectorImpl<Type> &operands,
                             SmallVectorImpl<Type> &results);
void printPairedTypes(OpAsmPrinter &printer, Operation *op, TypeRange operands,
                      TypeRange results);

// The type of the result where the operands' follow from it.
ParseResult parseComplexTypes(OpAsmParser &parser, Type &lhs, Type &rhs,
                              Type &result);
void printComplexTypes(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs,
                       Type result);

// `pred type, type` where the cases have the result's type.
ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred, Type &onTrue,
                             Type &onFalse, Type &result);
void printSelectTypes(OpAsmPrinter &printer, Operation *op, Type pred,
                      Type onTrue, Type onFalse, Type result);

// `UNIFORM`, of an attribute that holds an enumerator.
template <typename AttrT>
ParseResult parseEnum(OpAsmParser &parser, AttrT &attr) {
  using Value = decltype(attr.getValue());
  FailureOr<Value> value = FieldParser<Value>::parse(parser);
  if (failed(value))
    return failure();
  attr = AttrT::get(parser.getContext(), *value);
  return success();
}
template <typename AttrT>
void printEnum(OpAsmPrinter &printer, Operation *, AttrT attr) {
  printer << stringifyEnum(attr.getValue());
}

// `[0, 1]`
ParseResult parseDimList(OpAsmParser &parser, DenseI64ArrayAttr &dims);
void printDimList(OpAsmPrinter &printer, Operation *op, DenseI64ArrayAttr dims);

// `%a, %b,`
ParseResult parseOperandsThenComma(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands);
void printOperandsThenComma(OpAsmPrinter &printer, Operation *op,
                            OperandRange operands);

// `e5m10`
ParseResult parseFloatFormat(OpAsmParser &parser, IntegerAttr &exponentBits,
                             IntegerAttr &mantissaBits);
void printFloatFormat(OpAsmPrinter &printer, Operation *op,
                      IntegerAttr exponentBits, IntegerAttr mantissaBits);

// `[0:4, 2:8:2]`: start, limit and, unless 1, stride.
ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts,
                             DenseI64ArrayAttr &limits,
                             DenseI64ArrayAttr &strides);
void printSliceRanges(OpAsmPrinter &printer, Operation *op,
                      DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                      DenseI64ArrayAttr strides);

// `batching_dims = [0] x [0], contracting_dims = [2] x [1],
//  precision = [DEFAULT, DEFAULT], algorithm = <..>`, in which all but the
// contracting dims may be absent.
ParseResult parseDotAttributes(OpAsmParser &parser,
                               DotDimensionNumbersAttr &numbers,
                               ArrayAttr &precision,
                               DotAlgorithmAttr &algorithm);
void printDotAttributes(OpAsmPrinter &printer, Operation *op,
                        DotDimensionNumbersAttr numbers, ArrayAttr precision,
                        DotAlgorithmAttr algorithm);

// `, precision = [DEFAULT, DEFAULT]`; nothing if there is none.
ParseResult parsePrecisionList(OpAsmParser &parser, ArrayAttr &precision);
void printPrecisionList(OpAsmPrinter &printer, Operation *op,
                        ArrayAttr precision);

// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
ParseResult parseConvolutionDims(OpAsmParser &parser,
                                 ConvDimensionNumbersAttr &numbers);
void printConvolutionDims(OpAsmPrinter &printer, Operation *op,
                          ConvDimensionNumbersAttr numbers);

// `stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1],
//  rhs_dilate = [1, 1], reverse = [false, false]`, in any order, each once at
// most.
ParseResult parseWindowFields(OpAsmParser &parser, DenseI64ArrayAttr &strides,
                              DenseIntElementsAttr &padding,
                              DenseI64ArrayAttr &lhsDilation,
                              DenseI64ArrayAttr &rhsDilation,
                              DenseBoolArrayAttr &reversal);
void printWindowFields(OpAsmPrinter &printer, Operation *op,
                       DenseI64ArrayAttr strides, DenseIntElementsAttr padding,
                       DenseI64ArrayAttr lhsDilation,
                       DenseI64ArrayAttr rhsDilation,
                       DenseBoolArrayAttr reversal);

// `@target`
ParseResult parseCallTarget(OpAsmParser &parser, StringAttr &target);
void printCallTarget(OpAsmPrinter &printer, Operation *op, StringAttr target);

// ` ({..}, {..})`; nothing if there are no regions.
ParseResult parseRegions(OpAsmParser &parser,
                         SmallVectorImpl<std::unique_ptr<Region>> &regions);
void printRegions(OpAsmPrinter &printer, Operation *op, RegionRange regions);

// The tuple, whose types are those of the operands.
ParseResult parseTupleType(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                           Type &result);
void printTupleType(OpAsmPrinter &printer, Operation *op, TypeRange operands,
                    Type result);

// One type for all operands and the result.
ParseResult parseRepeatedType(OpAsmParser &parser,
                              ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                              Types &types, Type &result);
void printRepeatedType(OpAsmPrinter &printer, Operation *op,
                       OperandRange operands, TypeRange types, Type result);

} // namespace mlir::stablehlo

#endif // SHARDONNAY_DIALECT_STABLEHLO_ASSEMBLY_H
