//===- Shape.td - where elements come from -----------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_SHAPE_TD
#define SHARDONNAY_DIALECT_STABLEHLO_SHAPE_TD

include "shardonnay/dialect/stablehlo/Base.td"

def ConstantOp : InferringOp<"constant", [
    Pure, ConstantLike,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a tensor known when compiling";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs HLOTensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def IotaOp : HLOOp<"iota", [Pure]> {
  let summary = "each element's index in one dim";
  let arguments = (ins DimAttr:$iota_dimension);
  let results = (outs HLOArithmetic:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def BroadcastInDimOp : HLOOp<"broadcast_in_dim", [Pure]> {
  let summary = "repeats along new dims and dims of size 1";
  let arguments = (ins HLOAnyTensor:$operand,
                       DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs HLOAnyTensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def ReshapeOp : HLOOp<"reshape", [Pure, CompatibleElementTypes]> {
  let summary = "the same elements in the same order under another shape";
  let arguments = (ins HLOAnyTensor:$operand);
  let results = (outs HLOAnyTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def BitcastConvertOp : HLOOp<"bitcast_convert", [Pure]> {
  let summary = "the same bits in another element type";
  let description = [{
    Element types of different widths add or remove a last dim that holds the
    parts of the wider one.
  }];
  let arguments = (ins HLOTensor:$operand);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TransposeOp : InferringOp<"transpose", [Pure]> {
  let summary = "reorders dims: result dim i is operand dim permutation[i]";
  let arguments = (ins HLOAnyTensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs HLOAnyTensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $permutation attr-dict `:`
    functional-type(operands, results)
  }];
}

def ReverseOp : HLOOp<"reverse", [Pure, CompatibleTypes]> {
  let summary = "reverses the order of the elements in some dims";
  let arguments = (ins HLOTensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict `:`
    custom<SameTypes>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

def SliceOp : InferringOp<"slice", [Pure]> {
  let summary = "every stride-th element from start up to limit, in each dim";
  let arguments = (ins HLOTensor:$operand, DenseI64ArrayAttr:$start_indices,
                       DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasCanonicalizeMethod = 1;
}

def ConcatenateOp : InferringOp<"concatenate", [Pure]> {
  let summary = "tensors one after the other in one dim";
  let arguments = (ins Variadic<HLOTensor>:$inputs, DimAttr:$dimension);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    custom<OperandsThenComma>($inputs) `dim` `=` $dimension attr-dict `:`
    functional-type(operands, results)
  }];
}

def PadOp : InferringOp<"pad", [Pure]> {
  let summary = "a value around and between the elements";
  let description = [{
    Negative edge padding takes elements away.
  }];
  let arguments = (ins HLOTensor:$operand, HLOScalar:$padding_value,
                       DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high,
                       DenseI64ArrayAttr:$interior_padding);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low
    `,` `high` `=` $edge_padding_high `,` `interior` `=` $interior_padding
    attr-dict `:` functional-type(operands, results)
  }];
  let hasCanonicalizeMethod = 1;
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_SHAPE_TD
