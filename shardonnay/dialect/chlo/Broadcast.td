//===- Broadcast.td - functions of several shapes ----------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_CHLO_BROADCAST_TD
#define SHARDONNAY_DIALECT_CHLO_BROADCAST_TD

include "shardonnay/dialect/chlo/Base.td"

// Dims of size 1 are repeated. An operand of lower rank has the last dims of
// the other, or those that broadcast_dimensions names.
class BroadcastingOp<string mnemonic>
  : ChloOp<mnemonic, [Pure, InferTypeOpAdaptor]> {
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
  }];
}

/// `elementOf` in Broadcast.cpp makes the result's element type of the
/// operands'.
class BroadcastInferredOp<string mnemonic, string elementOf>
  : BroadcastingOp<mnemonic> {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return inferBinary(location, adaptor, types, }] # elementOf # [{);
    }
  }];
}

class BroadcastBinaryOp<string mnemonic, Type tensor>
  : BroadcastInferredOp<mnemonic, "sameElement"> {
  let arguments = (ins tensor:$lhs, tensor:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs tensor:$result);
}

def BroadcastAddOp : BroadcastBinaryOp<"broadcast_add", AnyElementTensor>;
def BroadcastAndOp : BroadcastBinaryOp<"broadcast_and", IntegerTensor>;
def BroadcastAtan2Op : BroadcastBinaryOp<"broadcast_atan2", AnyElementTensor>;
def BroadcastDivOp : BroadcastBinaryOp<"broadcast_divide", AnyElementTensor>;
def BroadcastMaxOp : BroadcastBinaryOp<"broadcast_maximum", AnyElementTensor>;
def BroadcastMinOp : BroadcastBinaryOp<"broadcast_minimum", AnyElementTensor>;
def BroadcastMulOp : BroadcastBinaryOp<"broadcast_multiply", AnyElementTensor>;
def BroadcastNextAfterOp : BroadcastBinaryOp<"broadcast_next_after",
  AnyElementTensor>;
def BroadcastOrOp : BroadcastBinaryOp<"broadcast_or", IntegerTensor>;
def BroadcastPolygammaOp : BroadcastBinaryOp<"broadcast_polygamma",
  AnyElementTensor>;
def BroadcastPowOp : BroadcastBinaryOp<"broadcast_power", AnyElementTensor>;
def BroadcastRemOp : BroadcastBinaryOp<"broadcast_remainder", AnyElementTensor>;
def BroadcastShiftLeftOp : BroadcastBinaryOp<"broadcast_shift_left",
  AnyElementTensor>;
def BroadcastShiftRightArithmeticOp : BroadcastBinaryOp<"broadcast_shift_right_arithmetic",
  AnyElementTensor>;
def BroadcastShiftRightLogicalOp : BroadcastBinaryOp<"broadcast_shift_right_logical",
  AnyElementTensor>;
def BroadcastSubOp : BroadcastBinaryOp<"broadcast_subtract", AnyElementTensor>;
def BroadcastXorOp : BroadcastBinaryOp<"broadcast_xor", IntegerTensor>;
def BroadcastZetaOp : BroadcastBinaryOp<"broadcast_zeta", RealTensor>;

def BroadcastComplexOp
  : BroadcastInferredOp<"broadcast_complex", "complexElement"> {
  let arguments = (ins RealTensor:$lhs, RealTensor:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs ComplexTensor:$result);
}

def BroadcastCompareOp
  : BroadcastInferredOp<"broadcast_compare", "boolElement"> {
  let arguments = (ins AnyElementTensor:$lhs, AnyElementTensor:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions,
                       ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<ComparisonTypeAttr>:$compare_type);
  let results = (outs BoolTensor:$result);
}

def BroadcastSelectOp : BroadcastingOp<"broadcast_select"> {
  let arguments = (ins BoolTensor:$pred, AnyElementTensor:$on_true,
                       AnyElementTensor:$on_false);
  let results = (outs AnyElementTensor:$result);
}

#endif // SHARDONNAY_DIALECT_CHLO_BROADCAST_TD
