//===- Base.td - dialect, attributes, constraints ----------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_CHLO_BASE_TD
#define SHARDONNAY_DIALECT_CHLO_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ChloDialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::mlir::chlo";
  let summary = "functions that StableHLO has no op for";
  let description = [{
    The ops that JAX and other clients print beside StableHLO's. Engines expand
    them, so that they may stay in the final program.
  }];
  // `#complex.number` is a constant_like's value.
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect",
                           "::mlir::complex::ComplexDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  // One function a family, so that no translation unit sees all ops.
  let extraClassDeclaration = [{
    void addElementwiseOps();
    void addBroadcastOps();
    void addStructuredOps();
  }];
}

//===----------------------------------------------------------------------===//
// Enumerations and attributes
//===----------------------------------------------------------------------===//

class ChloEnum<string name, string summary, list<string> cases>
  : I32EnumAttr<name, summary,
      !foreach(i, !range(cases), I32EnumAttrCase<cases[i], i>)> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::chlo";
}
def ComparisonDirection : ChloEnum<"ComparisonDirection", "relation",
  ["EQ", "NE", "GE", "GT", "LE", "LT"]>;
def ComparisonDirectionAttr
  : EnumAttr<ChloDialect, ComparisonDirection, "comparison_direction">;
def ComparisonType : ChloEnum<"ComparisonType", "order of the elements",
  ["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"]>;
def ComparisonTypeAttr
  : EnumAttr<ChloDialect, ComparisonType, "comparison_type">;
def Precision : ChloEnum<"Precision", "precision of a contraction's operand",
  ["DEFAULT", "HIGH", "HIGHEST"]>;
def PrecisionAttr : EnumAttr<ChloDialect, Precision, "precision">;
def PrecisionConfigAttr
  : TypedArrayAttrBase<PrecisionAttr, "one precision per operand">;

def DimsField : OptionalArrayRefParameter<"int64_t", "dims"> {
  let parser = "::mlir::stablehlo::parseDims($_parser)";
  let printer = "::mlir::stablehlo::printDims($_printer, $_self)";
}
def RaggedDotDimensionNumbersAttr
  : AttrDef<ChloDialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let summary = "which dims of the operands are paired, and which in groups";
  let parameters = (ins
    DimsField:$lhs_batching_dimensions, DimsField:$rhs_batching_dimensions,
    DimsField:$lhs_contracting_dimensions,
    DimsField:$rhs_contracting_dimensions, DimsField:$lhs_ragged_dimensions,
    DimsField:$rhs_group_dimensions);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def RealTensor : RankedTensorOf<[AnyFloat]>;
def RealOrComplexTensor : RankedTensorOf<[AnyFloat, AnyComplex]>;
def IntegerTensor : RankedTensorOf<[AnyInteger]>;
def BoolTensor : RankedTensorOf<[I1]>;
def NonBoolInteger : Type<
  CPred<"::llvm::isa<::mlir::IntegerType>($_self) && !$_self.isInteger(1)">,
  "integer but not bool">;
def ComplexTensor : RankedTensorOf<[AnyComplex]>;
def AnyElementTensor : RankedTensorOf<[AnyInteger, AnyFloat, AnyComplex]>;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

class ChloOp<string mnemonic, list<Trait> traits>
  : Op<ChloDialect, mnemonic, traits> {
  code moreDeclarations = "";
  // Compares inferred and written result types: unknown sizes match every size.
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange written) {
      return ::mlir::stablehlo::areCompatible(inferred, written);
    }
  }] # moreDeclarations;
}

def CompatibleTypes : NativeOpTrait<"CompatibleOperandsAndResultTypes"> {
  let cppNamespace = "::mlir::stablehlo";
}

#endif // SHARDONNAY_DIALECT_CHLO_BASE_TD
