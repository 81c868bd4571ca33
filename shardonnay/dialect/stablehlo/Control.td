//===- Control.td - terminator and barrier -----------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_CONTROL_TD
#define SHARDONNAY_DIALECT_STABLEHLO_CONTROL_TD

include "shardonnay/dialect/stablehlo/Base.td"

def ReturnOp : HLOOp<"return", [
    Pure, ReturnLike, Terminator]> {
  let summary = "the results of a region of an op of this dialect";
  let arguments = (ins Variadic<HLOValue>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
  let hasVerifier = 1;
}

def OptimizationBarrierOp : HLOOp<"optimization_barrier", [Pure]> {
  let summary = "its operands, computed before anything that uses a result";
  let arguments = (ins Variadic<HLOValue>:$operand);
  let results = (outs Variadic<HLOValue>:$result);
  let assemblyFormat = [{
    attr-dict ($operand^ `:` custom<PairedTypes>(type($operand), type($result))
    ):(`(` `)`)?
  }];
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$operands), [{
    build($_builder, $_state, operands.getTypes(), operands);
  }]>];
  let hasVerifier = 1;
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_CONTROL_TD
