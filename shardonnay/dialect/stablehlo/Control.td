//===- Control.td - regions that may run or not ------------*- tablegen -*-===//
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
  let summary = "the results of a region, also of a function that a custom call "
                "names: JAX ends those so";
  let arguments = (ins Variadic<HLOValue>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
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

// Each region is one block that ends with the op's results or, of `while`'s
// first, with one bool.
class ControlOp<string mnemonic> : HLOOp<mnemonic, [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let results = (outs Variadic<HLOValue>);
  let hasRegionVerifier = 1;
}

def WhileOp : HLOOp<"while", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">,
    OpAsmOpInterface]> {
  let summary = "runs `body` on its own results as long as `cond` holds";
  let description = [{
    ```
    %1:2 = stablehlo.while(%i = %c, %x = %0) : tensor<i32>, tensor<4xf32>
    cond { ... stablehlo.return %go : tensor<i1> }
    do { ... stablehlo.return %next, %y : tensor<i32>, tensor<4xf32> }
    ```
  }];
  let arguments = (ins Variadic<HLOLoopValue>:$operand);
  let results = (outs Variadic<HLOLoopValue>);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let moreDeclarations = [{
    void getAsmBlockArgumentNames(::mlir::Region &region,
                                  ::mlir::OpAsmSetValueNameFn setName);
  }];
}

def CaseOp : ControlOp<"case"> {
  let summary = "runs the region of the given index, the last one if there is "
                "none such";
  let arguments = (ins 0DTensorOf<[I32]>:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def IfOp : ControlOp<"if"> {
  let summary = "runs one of two regions";
  let arguments = (ins 0DTensorOf<[I1]>:$pred);
  let regions = (region SizedRegion<1>:$true_branch,
                        SizedRegion<1>:$false_branch);
  let hasCanonicalizeMethod = 1;
}

def MapOp : HLOOp<"map", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "a region of scalars, applied to the elements at each index";
  let arguments = (ins Variadic<HLOTensor>:$inputs,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs HLOTensor:$result);
  let regions = (region SizedRegion<1>:$computation);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_CONTROL_TD
