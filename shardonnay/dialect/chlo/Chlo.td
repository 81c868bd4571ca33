//===- Chlo.td - functions beyond StableHLO ----------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_CHLO_CHLO_TD
#define SHARDONNAY_DIALECT_CHLO_CHLO_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ChloDialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::mlir::chlo";
  let summary = "element-wise functions that StableHLO has no op for";
  let description = [{
    The ops that JAX prints beside StableHLO's. Engines expand them, so that
    they may stay in the final program.
  }];
}

// Of inferred and written result types: unknown sizes match every size.
defvar kCompatibleTypes = [{
  static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                      ::mlir::TypeRange written) {
    return ::mlir::stablehlo::areCompatible(inferred, written);
  }
}];

def RealTensor : RankedTensorOf<[AnyFloat]>;
def RealOrComplexTensor : RankedTensorOf<[AnyFloat, AnyComplex]>;
def IntegerTensor : RankedTensorOf<[AnyInteger]>;
def BoolTensor : RankedTensorOf<[I1]>;

class ElementwiseOp<string mnemonic, list<Trait> traits>
  : Op<ChloDialect, mnemonic, traits # [Pure, Elementwise]>;

class UnaryOp<string mnemonic, Type tensor>
  : ElementwiseOp<mnemonic, [SameOperandsAndResultType]> {
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` type($operand) `->` type($result)
  }];
}

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
  : ElementwiseOp<mnemonic, [SameOperandsAndResultType]> {
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
}

def MulhiOp : BinaryOp<"mulhi", IntegerTensor>;
def NextAfterOp : BinaryOp<"next_after", RealTensor>;
def PolygammaOp : BinaryOp<"polygamma", RealTensor>;
def ZetaOp : BinaryOp<"zeta", RealTensor>;

def TopKOp : Op<ChloDialect, "top_k",
    [Pure, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the k largest elements of each row, in falling order";
  let description = [{
    Along the last dim; the second result holds their positions there. Of equal
    elements the first comes first.
  }];
  let arguments = (ins RankedTensorOf<[AnyInteger, AnyFloat]>:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$k);
  let results = (outs RankedTensorOf<[AnyInteger, AnyFloat]>:$values,
                      RankedTensorOf<[I32]>:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k `)` attr-dict `:`
    type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
  let extraClassDeclaration = kCompatibleTypes;
}

#endif // SHARDONNAY_DIALECT_CHLO_CHLO_TD
