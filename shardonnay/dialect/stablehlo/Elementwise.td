//===- Elementwise.td - result elements of own index -------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_ELEMENTWISE_TD
#define SHARDONNAY_DIALECT_STABLEHLO_ELEMENTWISE_TD

include "shardonnay/dialect/stablehlo/Base.td"

//===----------------------------------------------------------------------===//
// One type throughout: `op %a, %b : type`
//===----------------------------------------------------------------------===//

class SameTypeOp<string mnemonic, list<Trait> traits = []>
  : HLOOp<mnemonic, traits # [Pure, Elementwise, CompatibleTypes]>;

class UnaryOp<string mnemonic, Type tensor> : SameTypeOp<mnemonic> {
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$operand), [{
    build($_builder, $_state, operand.getType(), operand);
  }]>];
}

def CeilOp : UnaryOp<"ceil", HLOFloatOrQuantized>;
def ClzOp : UnaryOp<"count_leading_zeros", HLOInt>;
def FloorOp : UnaryOp<"floor", HLOFloatOrQuantized>;
def NegOp : UnaryOp<"negate", HLOArithmeticOrQuantized>;
def NotOp : UnaryOp<"not", HLOBoolOrInt>;
def PopulationCountOp : UnaryOp<"popcnt", HLOInt>;
def RoundNearestEvenOp : UnaryOp<"round_nearest_even", HLOFloatOrQuantized>;
def RoundOp : UnaryOp<"round_nearest_afz", HLOFloatOrQuantized>;
def SignOp : UnaryOp<"sign", HLOArithmeticOrQuantized>;

// A function that hardware may approximate.
class TranscendentalOp<string mnemonic>
  : UnaryOp<mnemonic, HLOFloatOrComplexOrQuantized> {
  let arguments = (ins HLOFloatOrComplexOrQuantized:$operand,
    DefaultValuedOptionalAttr<ResultAccuracyAttr,
      "::mlir::stablehlo::defaultAccuracy($_builder.getContext())"
    >:$result_accuracy);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand), [{
    build($_builder, $_state, operand.getType(), operand,
          ::mlir::stablehlo::ResultAccuracyAttr());
  }]>];
}

def CbrtOp : TranscendentalOp<"cbrt">;
def CosineOp : TranscendentalOp<"cosine">;
def ExpOp : TranscendentalOp<"exponential">;
def Expm1Op : TranscendentalOp<"exponential_minus_one">;
def LogOp : TranscendentalOp<"log">;
def Log1pOp : TranscendentalOp<"log_plus_one">;
def LogisticOp : TranscendentalOp<"logistic">;
def RsqrtOp : TranscendentalOp<"rsqrt">;
def SineOp : TranscendentalOp<"sine">;
def SqrtOp : TranscendentalOp<"sqrt">;
def TanOp : TranscendentalOp<"tan">;
def TanhOp : TranscendentalOp<"tanh">;

class BinaryOp<string mnemonic, Type tensor, list<Trait> traits = []>
  : SameTypeOp<mnemonic, traits> {
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:`
    custom<SameTypes>(type($lhs), type($rhs), type($result))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{
    build($_builder, $_state, lhs.getType(), lhs, rhs);
  }]>];
}

def AddOp : BinaryOp<"add", HLOAnyTensor, [Commutative]>;
def AndOp : BinaryOp<"and", HLOBoolOrInt, [Commutative]>;
def Atan2Op : BinaryOp<"atan2", HLOFloatOrComplexOrQuantized>;
def DivOp : BinaryOp<"divide", HLOArithmeticOrQuantized>;
def MaxOp : BinaryOp<"maximum", HLOTensor, [Commutative]>;
def MinOp : BinaryOp<"minimum", HLOTensor, [Commutative]>;
def MulOp : BinaryOp<"multiply", HLOTensor, [Commutative]>;
def OrOp : BinaryOp<"or", HLOBoolOrInt, [Commutative]>;
def PowOp : BinaryOp<"power", HLOArithmeticOrQuantized>;
def RemOp : BinaryOp<"remainder", HLOArithmeticOrQuantized>;
def ShiftLeftOp : BinaryOp<"shift_left", HLOInt>;
def ShiftRightArithmeticOp : BinaryOp<"shift_right_arithmetic", HLOInt>;
def ShiftRightLogicalOp : BinaryOp<"shift_right_logical", HLOInt>;
def SubtractOp : BinaryOp<"subtract", HLOArithmeticOrQuantized>;
def XorOp : BinaryOp<"xor", HLOBoolOrInt, [Commutative]>;

def ReducePrecisionOp : SameTypeOp<"reduce_precision"> {
  let summary = "rounds to a float format of fewer bits";
  let arguments = (ins HLOFloatOrQuantized:$operand,
    ConfinedAttr<I32Attr, [IntPositive]>:$exponent_bits,
    ConfinedAttr<I32Attr, [IntNonNegative]>:$mantissa_bits);
  let results = (outs HLOFloatOrQuantized:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<FloatFormat>($exponent_bits,
      $mantissa_bits) attr-dict `:`
    custom<SameTypes>(type($operand), type($output))
  }];
}

//===----------------------------------------------------------------------===//
// A result of another element type
//===----------------------------------------------------------------------===//

class RetypingOp<string mnemonic, Type from, Type to>
  : InferringOp<mnemonic, [Pure, Elementwise, SameOperandsAndResultShape]> {
  let arguments = (ins from:$operand);
  let results = (outs to:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
}

def AbsOp : RetypingOp<"abs", HLOArithmeticOrQuantized, HLOArithmeticOrQuantized>;
def ImagOp : RetypingOp<"imag", HLOFloatOrComplex, HLOFloat>;
def IsFiniteOp : RetypingOp<"is_finite", HLOFloatOrQuantized, HLOBool>;
def RealOp : RetypingOp<"real", HLOFloatOrComplex, HLOFloat>;

def ConvertOp : HLOOp<"convert",
    [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "the same values in another element type";
  let arguments = (ins HLOTensor:$operand);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
}

def ComplexOp : InferringOp<"complex",
    [Pure, Elementwise, SameOperandsElementType, SameOperandsAndResultShape]> {
  let summary = "complex numbers from their real and imaginary parts";
  let arguments = (ins HLOFloat:$lhs, HLOFloat:$rhs);
  let results = (outs HLOComplex:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:`
    custom<ComplexTypes>(type($lhs), type($rhs), type($result))
  }];
}

def CompareOp : InferringOp<"compare",
    [Pure, Elementwise, SameOperandsElementType, SameOperandsAndResultShape]> {
  let summary = "whether a relation holds";
  let arguments = (ins HLOTensor:$lhs, HLOTensor:$rhs,
                       ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<ComparisonTypeAttr>:$compare_type);
  let results = (outs HLOBool:$result);
  // The attributes print a space of their own.
  let assemblyFormat = [{
    `` $comparison_direction `,` $lhs `,` $rhs (`,` `` $compare_type^)?
    attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Element-wise but for scalar operands that stand for all elements
//===----------------------------------------------------------------------===//

def SelectOp : InferringOp<"select", [Pure]> {
  let summary = "picks from one of two tensors";
  let arguments = (ins HLOBool:$pred, HLOTensor:$on_true, HLOTensor:$on_false);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:`
    custom<SelectTypes>(type($pred), type($on_true), type($on_false),
                        type($result))
  }];
}

def ClampOp : InferringOp<"clamp", [Pure]> {
  let summary = "limits to a range";
  let arguments = (ins HLOTensor:$min, HLOTensor:$operand, HLOTensor:$max);
  let results = (outs HLOTensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:`
    custom<SameTypes>(type($min), type($operand), type($max), type($result))
  }];
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_ELEMENTWISE_TD
