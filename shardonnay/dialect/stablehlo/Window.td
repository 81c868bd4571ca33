//===- Window.td - reductions of windows -------------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_WINDOW_TD
#define SHARDONNAY_DIALECT_STABLEHLO_WINDOW_TD

include "shardonnay/dialect/stablehlo/Base.td"

def ReduceWindowOp : HLOOp<"reduce_window", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicOperandSize,
    SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "combines all elements of each window";
  let arguments = (ins Variadic<HLOTensor>:$inputs,
                       Variadic<HLOScalar>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs Variadic<HLOTensor>);
  let regions = (region SizedRegion<1>:$body);
  let moreDeclarations = [{
    /// One a dim, on the verified op.
    ::llvm::SmallVector<::mlir::stablehlo::WindowDim> getWindow();
  }];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def SelectAndScatterOp : HLOOp<"select_and_scatter", [
    RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "combines source elements where each window selects";
  let description = [{
    For each window of the operand one element of it is selected; the result
    there is the initial value combined with all source elements of windows
    that selected it.
  }];
  let arguments = (ins HLOTensor:$operand, HLOTensor:$source,
                       HLOScalar:$init_value,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs HLOTensor:$result);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let moreDeclarations = [{
    /// One a dim, on the verified op.
    ::llvm::SmallVector<::mlir::stablehlo::WindowDim> getWindow();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_WINDOW_TD
