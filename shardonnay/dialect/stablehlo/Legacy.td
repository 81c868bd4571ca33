//===- Legacy.td - older forms of other ops ----------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_LEGACY_TD
#define SHARDONNAY_DIALECT_STABLEHLO_LEGACY_TD

include "shardonnay/dialect/stablehlo/Base.td"

def BroadcastOp : InferringOp<"broadcast", [Pure, CompatibleElementTypes]> {
  let summary = "repeats along new leading dims";
  let arguments = (ins HLOTensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict `:`
    functional-type(operands, results)
  }];
}

def EinsumOp : HLOOp<"einsum", [Pure]> {
  let summary = "a contraction in Einstein's notation";
  let arguments = (ins HLOTensor:$lhs, HLOTensor:$rhs, StrAttr:$einsum_config);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:`
    functional-type(operands, results)
  }];
}

def UnaryEinsumOp : HLOOp<"unary_einsum", [Pure]> {
  let summary = "sums and transpositions in Einstein's notation";
  let arguments = (ins HLOTensor:$operand, StrAttr:$einsum_config);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $operand `,` `config` `=` $einsum_config attr-dict `:`
    functional-type(operands, results)
  }];
}

def TorchIndexSelectOp : HLOOp<"torch_index_select", [Pure]> {
  let summary = "slices of a dim, picked by indices";
  let arguments = (ins HLOTensor:$operand, HLOTensor:$index, I64Attr:$dim,
                       I64Attr:$batch_dims);
  let results = (outs HLOTensor:$result);
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_LEGACY_TD
