//===- Quantize.td - integers that stand for reals ---------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_QUANTIZE_TD
#define SHARDONNAY_DIALECT_STABLEHLO_QUANTIZE_TD

include "shardonnay/dialect/stablehlo/Base.td"

def HLORealOrQuantized : RankedUnion<[HLOFloat, HLOAnyQuantized],
  "tensor of float or quantized integers">;

def UniformQuantizeOp : HLOOp<"uniform_quantize",
    [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "the integers that stand for given reals";
  let arguments = (ins HLORealOrQuantized:$operand);
  let results = (outs HLOAnyQuantized:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

def UniformDequantizeOp : InferringOp<"uniform_dequantize",
    [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "the reals that quantized integers stand for";
  let arguments = (ins HLOAnyQuantized:$operand);
  let results = (outs HLOFloat:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_QUANTIZE_TD
