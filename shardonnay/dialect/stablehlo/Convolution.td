//===- Convolution.td - sums of products over windows ------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_CONVOLUTION_TD
#define SHARDONNAY_DIALECT_STABLEHLO_CONVOLUTION_TD

include "shardonnay/dialect/stablehlo/Base.td"

def GroupCountAttr : ConfinedAttr<I64Attr, [IntPositive]>;

def ConvolutionOp : HLOOp<"convolution", [Pure]> {
  let summary = "sums of products of the kernel and windows of the input";
  let description = [{
    `window` holds stride, pad, lhs_dilate, rhs_dilate and reverse; each may be
    absent. Feature groups divide the features of both operands, batch groups
    the input's batch and the kernel's output features.
  }];
  let arguments = (ins
    HLOTensor:$lhs, HLOTensor:$rhs,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<I64ElementsAttr>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    ConvDimensionNumbersAttr:$dimension_numbers,
    GroupCountAttr:$feature_group_count, GroupCountAttr:$batch_group_count,
    OptionalAttr<PrecisionConfigAttr>:$precision_config);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=`
    custom<ConvolutionDims>($dimension_numbers) `,` `window` `=` `{`
    custom<WindowFields>($window_strides, $padding, $lhs_dilation,
                         $rhs_dilation, $window_reversal) `}`
    attr-dict `:` functional-type(operands, results)
  }];
  let moreDeclarations = [{
    /// One a spatial dim, on the verified op.
    ::llvm::SmallVector<::mlir::stablehlo::WindowDim> getWindow();
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def DynamicConvOp : HLOOp<"dynamic_conv", [Pure]> {
  let summary = "a convolution whose padding is data";
  let arguments = (ins
    HLOTensor:$lhs, HLOTensor:$rhs, HLOInt:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    ConvDimensionNumbersAttr:$dimension_numbers,
    GroupCountAttr:$feature_group_count, GroupCountAttr:$batch_group_count,
    OptionalAttr<PrecisionConfigAttr>:$precision_config);
  let results = (outs HLOTensor:$result);
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_CONVOLUTION_TD
