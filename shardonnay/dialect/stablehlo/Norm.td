//===- Norm.td - batch normalisation -----------------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_NORM_TD
#define SHARDONNAY_DIALECT_STABLEHLO_NORM_TD

include "shardonnay/dialect/stablehlo/Base.td"

class BatchNormOp<string mnemonic>
  : InferringOp<mnemonic, [Pure, CompatibleElementTypes]>;

def BatchNormInferenceOp : BatchNormOp<"batch_norm_inference"> {
  let summary = "normalises each feature by given statistics";
  let arguments = (ins HLOFloatOrQuantized:$operand, HLOFloatVector:$scale,
                       HLOFloatVector:$offset, HLOFloatVector:$mean,
                       HLOFloatVector:$variance, F32Attr:$epsilon,
                       DimAttr:$feature_index);
  let results = (outs HLOFloatOrQuantized:$result);
}

def BatchNormTrainingOp : BatchNormOp<"batch_norm_training"> {
  let summary = "normalises each feature by its own statistics";
  let arguments = (ins HLOFloatOrQuantized:$operand, HLOFloatVector:$scale,
                       HLOFloatVector:$offset, F32Attr:$epsilon,
                       DimAttr:$feature_index);
  let results = (outs HLOFloatOrQuantized:$output, HLOFloatVector:$batch_mean,
                      HLOFloatVector:$batch_var);
}

def BatchNormGradOp : BatchNormOp<"batch_norm_grad"> {
  let summary = "gradients of a normalisation by own statistics";
  let arguments = (ins HLOFloatOrQuantized:$operand, HLOFloatVector:$scale,
                       HLOFloatVector:$mean, HLOFloatVector:$variance,
                       HLOFloatOrQuantized:$grad_output, F32Attr:$epsilon,
                       DimAttr:$feature_index);
  let results = (outs HLOFloatOrQuantized:$grad_operand,
                      HLOFloatVector:$grad_scale, HLOFloatVector:$grad_offset);
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_NORM_TD
