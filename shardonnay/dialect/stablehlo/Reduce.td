//===- Reduce.td - reductions over dims --------------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_REDUCE_TD
#define SHARDONNAY_DIALECT_STABLEHLO_REDUCE_TD

include "shardonnay/dialect/stablehlo/Base.td"

def ReduceOp : HLOOp<"reduce", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicOperandSize,
    SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "combines all elements along some dims";
  let description = [{
    The body combines two elements of each input; its arguments are the left
    ones of all inputs, then the right ones. A body of one commutative op is
    printed as `applies stablehlo.add`.
  }];
  let arguments = (ins Variadic<HLOTensor>:$inputs,
                       Variadic<HLOScalar>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs Variadic<HLOTensor>);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_REDUCE_TD
