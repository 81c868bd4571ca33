//===- Batched.td - rows and matrices, whole ---------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_BATCHED_TD
#define SHARDONNAY_DIALECT_STABLEHLO_BATCHED_TD

include "shardonnay/dialect/stablehlo/Base.td"

// What these ops do along some dims, they do for each index of the others.

def SortOp : HLOOp<"sort", [
    RecursiveMemoryEffects, RecursivelySpeculatable,
    SameOperandsAndResultShape, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "sorts along one dim, all tensors alike";
  let description = [{
    The comparator says whether one entry comes before another; its arguments
    are the two entries' elements in the first tensor, then in the second, ...
    A negative dim counts from the last one.
  }];
  let arguments = (ins Variadic<HLOTensor>:$inputs,
    DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let results = (outs Variadic<HLOTensor>);
  let regions = (region SizedRegion<1>:$comparator);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let moreDeclarations = [{
    /// The sorted dim, 0 or more.
    int64_t getSortDim();
  }];
}

def FftOp : InferringOp<"fft", [Pure]> {
  let summary = "Fourier transforms along the last dims";
  let arguments = (ins HLOFloatOrComplex:$operand, FftTypeAttr:$fft_type,
                       DenseI64ArrayAttr:$fft_length);
  let results = (outs HLOFloatOrComplex:$result);
  let assemblyFormat = [{
    $operand `,` `type` `=` custom<Enum>($fft_type) `,` `length` `=`
    custom<DimList>($fft_length) attr-dict `:`
    functional-type(operands, results)
  }];
}

def CholeskyOp : InferringOp<"cholesky", [Pure, SameOperandsAndResultElementType]> {
  let summary = "factors of positive definite matrices, the last two dims";
  let arguments = (ins HLOFloatOrComplex:$a,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs HLOFloatOrComplex:$result);
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict `:`
    custom<SameTypes>(type($a), type($result))
  }];
}

def TriangularSolveOp : InferringOp<"triangular_solve", [
    Pure, SameOperandsAndResultElementType]> {
  let summary = "solves a * x = b, or x * a = b, for x";
  let arguments = (ins HLOFloatOrComplex:$a, HLOFloatOrComplex:$b,
    BoolAttr:$left_side, BoolAttr:$lower, BoolAttr:$unit_diagonal,
    TransposeAttr:$transpose_a);
  let results = (outs HLOFloatOrComplex:$result);
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_BATCHED_TD
