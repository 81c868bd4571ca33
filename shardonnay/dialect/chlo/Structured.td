//===- Structured.td - constants, contractions, scans ------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_CHLO_STRUCTURED_TD
#define SHARDONNAY_DIALECT_CHLO_STRUCTURED_TD

include "shardonnay/dialect/chlo/Base.td"

def ConstantOp : ChloOp<"constant", [Pure, ConstantLike, InferTypeOpAdaptor]> {
  let summary = "a tensor known when compiling";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyElementTensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def TopKOp : ChloOp<"top_k", [Pure, InferTypeOpAdaptor]> {
  let summary = "the k largest elements of each row, in falling order";
  let description = [{
    Along the last dim; the second result holds their positions there. Of equal
    elements the first comes first.
  }];
  let arguments = (ins AnyElementTensor:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$k);
  let results = (outs AnyElementTensor:$values,
                      RankedTensorOf<[I32]>:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k `)` attr-dict `:`
    type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
}

def RaggedDotOp : ChloOp<"ragged_dot", [Pure]> {
  let summary = "a contraction of groups of slices";
  let description = [{
    One dim of lhs is ragged: divided into groups of the given sizes, one after
    the other. If it is free, [b, m, k] x [g, b, k, n] -> [b, m, n], each group
    has its own rhs. If it is contracted, [b, m, k] x [b, k, n] -> [g, b, m, n],
    each group gives a result of its own. If it is a batch dim the groups mean
    nothing.
  }];
  let arguments = (ins
    AnyElementTensor:$lhs, AnyElementTensor:$rhs, IntegerTensor:$group_sizes,
    RaggedDotDimensionNumbersAttr:$ragged_dot_dimension_numbers,
    OptionalAttr<PrecisionConfigAttr>:$precision_config);
  let results = (outs AnyElementTensor:$result);
  let hasVerifier = 1;
}

def ScanOp : ChloOp<"scan", [
    RecursiveMemoryEffects, RecursivelySpeculatable, AttrSizedOperandSegments,
    AttrSizedResultSegments,
    SingleBlockImplicitTerminator<"::mlir::stablehlo::ReturnOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface,
                              ["getAsmBlockArgumentNames"]>]> {
  let summary = "a function applied to slice after slice of a dim";
  let description = [{
    The body takes a slice of each input and the carries, and returns a slice of
    each output and the new carries.
  }];
  let arguments = (ins
    Variadic<AnyElementTensor>:$inputs, Variadic<AnyElementTensor>:$inits,
    I64Attr:$dimension, OptionalAttr<I64Attr>:$scan_dim_size,
    OptionalAttr<BoolAttr>:$is_reverse, OptionalAttr<BoolAttr>:$is_associative);
  let results = (outs Variadic<AnyElementTensor>:$outputs,
                      Variadic<AnyElementTensor>:$carries);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // SHARDONNAY_DIALECT_CHLO_STRUCTURED_TD
