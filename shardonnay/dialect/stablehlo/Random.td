//===- Random.td - random numbers --------------------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_RANDOM_TD
#define SHARDONNAY_DIALECT_STABLEHLO_RANDOM_TD

include "shardonnay/dialect/stablehlo/Base.td"

def RandomElement : AnyTypeOf<[IntElement, FloatElement]>;
def ParameterScalar : 0DTensorOf<[BoolElement, IntElement, FloatElement]>;
def ShapeVector : StaticShapeTensorOf<[Index, IntElement]>;

// Each call has other numbers: an effect, so that equal ones do not merge.
def RngOp : InferringOp<"rng", [
    MemoryEffects<[MemRead, MemWrite]>,
    AllElementTypesMatch<["a", "b", "result"]>]> {
  let summary = "numbers that no one can predict, from `a` up to `b`, or with "
                "mean `a` and deviation `b`";
  let arguments = (ins ParameterScalar:$a, ParameterScalar:$b,
                       ShapeVector:$shape,
                       RngDistributionAttr:$rng_distribution);
  let results = (outs RankedTensorOf<[BoolElement, IntElement, FloatElement]>:
    $result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` custom<Enum>($rng_distribution)
    attr-dict `:` functional-type(operands, results)
  }];
}

def RngBitGeneratorOp : HLOOp<"rng_bit_generator", [Pure, OpAsmOpInterface]> {
  let summary = "random bits, and the state for the next ones";
  let arguments = (ins RngAlgorithmAttr:$rng_algorithm,
                       RankedTensorOf<[RandomElement]>:$initial_state);
  let results = (outs RankedTensorOf<[RandomElement]>:$output_state,
                      StaticShapeTensorOf<[RandomElement]>:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` custom<Enum>($rng_algorithm) attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let moreDeclarations = [{
    void getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      setName(getOutputState(), "output_state");
      setName(getOutput(), "output");
    }
  }];
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_RANDOM_TD
