//===- Dot.td - contractions -------------------------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_DOT_TD
#define SHARDONNAY_DIALECT_STABLEHLO_DOT_TD

include "shardonnay/dialect/stablehlo/Base.td"

def DotGeneralOp : HLOOp<"dot_general", [Pure]> {
  let summary = "sums of products over the contracting dims";
  let description = [{
    The result's dims are the batching dims, then the other dims of `lhs`, then
    those of `rhs`. Its element type is that of the accumulation.
  }];
  let arguments = (ins HLOTensor:$lhs, HLOTensor:$rhs,
                       DotDimensionNumbersAttr:$dot_dimension_numbers,
                       OptionalAttr<PrecisionConfigAttr>:$precision_config,
                       OptionalAttr<DotAlgorithmAttr>:$algorithm);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotAttributes>($dot_dimension_numbers,
      $precision_config, $algorithm)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

// A product of vectors and matrices; JAX no longer prints it.
def DotOp : HLOOp<"dot", [Pure]> {
  let summary = "the last dim of one operand with the first one of the other";
  let arguments = (ins HLOTensor:$lhs, HLOTensor:$rhs,
                       OptionalAttr<PrecisionConfigAttr>:$precision_config);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `` custom<PrecisionList>($precision_config)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_DOT_TD
