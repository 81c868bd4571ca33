//===- Dynamic.td - shapes that are data -------------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_DYNAMIC_TD
#define SHARDONNAY_DIALECT_STABLEHLO_DYNAMIC_TD

include "shardonnay/dialect/stablehlo/Base.td"

def DynamicBroadcastInDimOp : HLOOp<"dynamic_broadcast_in_dim", [Pure]> {
  let summary = "a broadcast to sizes that are data";
  let arguments = (ins HLOAnyTensor:$operand, HLOStaticSizes:$output_dimensions,
    DenseI64ArrayAttr:$broadcast_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let results = (outs HLOAnyTensor:$result);
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions
    attr-dict `:` functional-type(operands, results)
  }];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def DynamicReshapeOp : HLOOp<"dynamic_reshape", [Pure]> {
  let summary = "a reshape to sizes that are data";
  let arguments = (ins HLOAnyTensor:$operand, HLOStaticSizes:$output_shape);
  let results = (outs HLOAnyTensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
  }];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def DynamicPadOp : HLOOp<"dynamic_pad", [Pure,
    AllElementTypesMatch<["operand", "padding_value", "result"]>,
    AllRanksMatch<["operand", "result"]>,
    AllTypesMatch<["edge_padding_low", "edge_padding_high",
                   "interior_padding"]>]> {
  let summary = "a padding whose sizes are data";
  let arguments = (ins HLOTensor:$operand, HLOScalar:$padding_value,
                       HLOSizes:$edge_padding_low, HLOSizes:$edge_padding_high,
                       HLOSizes:$interior_padding);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
  }];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def DynamicIotaOp : HLOOp<"dynamic_iota", [Pure]> {
  let summary = "each element's index in one dim, of a shape that is data";
  let arguments = (ins HLOStaticSizes:$output_shape, DimAttr:$iota_dimension);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $output_shape `,` `dim` `=` $iota_dimension attr-dict `:`
    functional-type(operands, results)
  }];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def RealDynamicSliceOp : HLOOp<"real_dynamic_slice", [Pure,
    AllElementTypesMatch<["operand", "result"]>,
    AllTypesMatch<["start_indices", "limit_indices", "strides"]>]> {
  let summary = "a slice whose ranges are data";
  let arguments = (ins HLOTensor:$operand, HLOSizes:$start_indices,
                       HLOSizes:$limit_indices, HLOSizes:$strides);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
  }];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def GetDimensionSizeOp : InferringOp<"get_dimension_size", [Pure]> {
  let summary = "the size of a dim, as data";
  let arguments = (ins HLOTensor:$operand, DimAttr:$dimension);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = [{
    $operand `,` `dim` `=` $dimension attr-dict `:`
    functional-type(operands, results)
  }];
  let hasCanonicalizeMethod = 1;
}

def SetDimensionSizeOp : InferringOp<"set_dimension_size", [Pure]> {
  let summary = "the operand with another size of a dim, which is data";
  let arguments = (ins HLOTensor:$operand, 0DTensorOf<[I32]>:$size,
                       DimAttr:$dimension);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $operand `,` $size `,` `dim` `=` $dimension attr-dict `:`
    functional-type(operands, results)
  }];
  let hasCanonicalizeMethod = 1;
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_DYNAMIC_TD
