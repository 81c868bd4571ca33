//===- Elementwise.td - element-wise functions -------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_CHLO_ELEMENTWISE_TD
#define SHARDONNAY_DIALECT_CHLO_ELEMENTWISE_TD

include "shardonnay/dialect/chlo/Base.td"

class ElementwiseOp<string mnemonic, list<Trait> traits>
  : ChloOp<mnemonic, traits # [Pure, Elementwise]>;

class UnaryOp<string mnemonic, Type tensor>
  : ElementwiseOp<mnemonic, [CompatibleTypes]> {
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` type($operand) `->` type($result)
  }];
}

def AsinAcosKernelOp : UnaryOp<"_asin_acos_kernel", ComplexTensor>;
def AcosOp : UnaryOp<"acos", RealOrComplexTensor>;
def AcoshOp : UnaryOp<"acosh", RealOrComplexTensor>;
def AsinOp : UnaryOp<"asin", RealOrComplexTensor>;
def AsinhOp : UnaryOp<"asinh", RealOrComplexTensor>;
def AtanOp : UnaryOp<"atan", RealOrComplexTensor>;
def AtanhOp : UnaryOp<"atanh", RealOrComplexTensor>;
def BesselI1eOp : UnaryOp<"bessel_i1e", RealOrComplexTensor>;
def ConjOp : UnaryOp<"conj", RealOrComplexTensor>;
def CoshOp : UnaryOp<"cosh", RealOrComplexTensor>;
def DigammaOp : UnaryOp<"digamma", RealTensor>;
def ErfcOp : UnaryOp<"erfc", RealTensor>;
def ErfInvOp : UnaryOp<"erf_inv", RealTensor>;
def ErfOp : UnaryOp<"erf", RealTensor>;
def LgammaOp : UnaryOp<"lgamma", RealTensor>;
def SinhOp : UnaryOp<"sinh", RealOrComplexTensor>;
def SquareOp : UnaryOp<"square", RealOrComplexTensor>;
def TanOp : UnaryOp<"tan", RealOrComplexTensor>;

class PredicateOp<string mnemonic>
  : ElementwiseOp<mnemonic, [SameOperandsAndResultShape, InferTypeOpAdaptor]> {
  let arguments = (ins RealTensor:$operand);
  let results = (outs BoolTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` type($operand) `->` type($result)
  }];
}

def IsInfOp : PredicateOp<"is_inf">;
def IsNegInfOp : PredicateOp<"is_neg_inf">;
def IsPosInfOp : PredicateOp<"is_pos_inf">;

class BinaryOp<string mnemonic, Type tensor>
  : ElementwiseOp<mnemonic, [CompatibleTypes]> {
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
}

def MulhiOp : BinaryOp<"mulhi", RankedTensorOf<[NonBoolInteger]>>;
def NextAfterOp : BinaryOp<"next_after", RealTensor>;
def PolygammaOp : BinaryOp<"polygamma", RealTensor>;
def ZetaOp : BinaryOp<"zeta", RealTensor>;

def ConstantLikeOp : ElementwiseOp<"constant_like",
    [SameOperandsAndResultShape, InferTypeOpAdaptor]> {
  let summary = "a value everywhere, in the shape of the operand";
  let arguments = (ins TypedAttrInterface:$value, AnyElementTensor:$operand);
  let results = (outs AnyElementTensor:$result);
}

#endif // SHARDONNAY_DIALECT_CHLO_ELEMENTWISE_TD
