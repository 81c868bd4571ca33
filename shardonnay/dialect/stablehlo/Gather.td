//===- Gather.td - slices at indices that are data ---------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_GATHER_TD
#define SHARDONNAY_DIALECT_STABLEHLO_GATHER_TD

include "shardonnay/dialect/stablehlo/Base.td"

def GatherOp : InferringOp<"gather", [Pure]> {
  let summary = "windows of the operand at the given start indices";
  let arguments = (ins HLOTensor:$operand, HLOInt:$start_indices,
                       GatherDimensionNumbersAttr:$dimension_numbers,
                       DenseI64ArrayAttr:$slice_sizes,
                       DefaultValuedOptionalAttr<BoolAttr, "false">
                         :$indices_are_sorted);
  let results = (outs HLOTensor:$result);
}

def DynamicGatherOp : InferringOp<"dynamic_gather", [Pure]> {
  let summary = "a gather of windows whose sizes are data";
  let arguments = (ins HLOTensor:$operand, HLOInt:$start_indices,
                       HLOStaticSizes:$slice_sizes,
                       GatherDimensionNumbersAttr:$dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">
                         :$indices_are_sorted);
  let results = (outs HLOTensor:$result);
  let hasCanonicalizeMethod = 1;
}

def ScatterOp : HLOOp<"scatter", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicOperandSize,
    SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "the inputs with windows updated at the given indices";
  let description = [{
    The body combines an element of each input and one of each update;
    its arguments are those of all inputs, then those of all updates.
  }];
  let arguments = (ins Variadic<HLOTensor>:$inputs, HLOInt:$scatter_indices,
                       Variadic<HLOTensor>:$updates,
                       ScatterDimensionNumbersAttr:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">
                         :$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">
                         :$unique_indices);
  let results = (outs Variadic<HLOTensor>);
  let regions = (region SizedRegion<1>:$update_computation);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def DynamicSliceOp : InferringOp<"dynamic_slice", [Pure]> {
  let summary = "one window of the operand, its start clamped to the bounds";
  let arguments = (ins HLOTensor:$operand,
                       Variadic<HLOIntScalar>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<OperandsThenComma>($start_indices)
    `sizes` `=` $slice_sizes attr-dict `:` functional-type(operands, results)
  }];
}

def DynamicUpdateSliceOp : InferringOp<"dynamic_update_slice", [Pure]> {
  let summary = "the operand with one window replaced, its start clamped";
  let arguments = (ins HLOTensor:$operand, HLOTensor:$update,
                       Variadic<HLOIntScalar>:$start_indices);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
  }];
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_GATHER_TD
