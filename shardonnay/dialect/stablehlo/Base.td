//===- Base.td - dialect, attributes, constraints ----------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_BASE_TD
#define SHARDONNAY_DIALECT_STABLEHLO_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def StablehloDialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::mlir::stablehlo";
  let summary = "tensor programs as JAX prints them";
  let description = [{
    A StableHLO-compatible dialect, written from the public specification: the
    text is what jaxlib's own dialect prints and parses, and the verifiers hold
    the specification's constraints, so that later stages may rely on them.
    Dims of unknown size match every size.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  // One function a family, so that no translation unit sees all ops.
  let extraClassDeclaration = [{
    void addElementwiseOps();
    void addShapeOps();
    void addDotOps();
    void addReduceOps();
    void addGatherOps();
    void addControlOps();
    void addBatchedOps();
    void addRandomOps();
    void addCollectiveOps();
    void addConvolutionOps();
    void addWindowOps();
    void addCustomOps();
    void addTransferOps();
    void addNormOps();
    void addDynamicOps();
    void addQuantizeOps();
    void addLegacyOps();
  }];
  let dependentDialects = ["::mlir::quant::QuantDialect"];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def TokenType : TypeDef<StablehloDialect, "Token"> {
  let mnemonic = "token";
  let summary = "orders side effects; holds no data";
}

def FutureType : TypeDef<StablehloDialect, "Future"> {
  let mnemonic = "future";
  let summary = "tensors that a started computation will have";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
  let genVerifyDecl = 1;
}

def BoolElement : AnyTypeOf<[I1], "bool">;
def IntElement : AnyTypeOf<[
  I<2>, I<4>, I8, I16, I32, I64, UI<2>, UI<4>, UI8, UI16, UI32, UI64],
  "integer">;
def FloatElement : AnyTypeOf<[
  F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3FN, F8E4M3FNUZ,
  F8E4M3B11FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, BF16, F16, F32, F64],
  "float">;
def ComplexElement : AnyTypeOf<[Complex<F32>, Complex<F64>], "complex">;

// Integers that stand for reals, by one scale and zero point for the whole
// tensor.
def QuantizedElement : Type<
  CPred<"::llvm::isa<::mlir::quant::UniformQuantizedType>($_self)">,
  "quantized integer">;
// The same for each slice of a dim: its size is the number of scales.
def HLOQuantizedPerAxis : Type<And<[
    RankedTensorOf<[Type<CPred<
      "::llvm::isa<::mlir::quant::UniformQuantizedPerAxisType>($_self)">,
      "integer quantized per axis">]>.predicate,
    CPred<"::mlir::stablehlo::hasScalePerSlice($_self)">]>,
  "tensor of integers quantized per slice", "::mlir::RankedTensorType">;
def HLOQuantized : RankedTensorOf<[QuantizedElement]>;

def HLOTensor : RankedTensorOf<[
  BoolElement, IntElement, FloatElement, ComplexElement, QuantizedElement]>;
// Also quantized per axis.
class RankedUnion<list<Type> types, string summary> : Type<
  Or<!foreach(type, types, type.predicate)>, summary,
  "::mlir::RankedTensorType">;
def HLOAnyTensor : RankedUnion<[HLOTensor, HLOQuantizedPerAxis],
  "ranked tensor of bool, integer, float, complex or quantized integer">;
def HLOAnyQuantized : RankedUnion<[HLOQuantized, HLOQuantizedPerAxis],
  "tensor of quantized integers">;
def HLOBool : RankedTensorOf<[BoolElement]>;
def HLOInt : RankedTensorOf<[IntElement]>;
def HLOFloat : RankedTensorOf<[FloatElement]>;
def HLOComplex : RankedTensorOf<[ComplexElement]>;
def HLOBoolOrInt : RankedTensorOf<[BoolElement, IntElement]>;
def HLOFloatOrComplex : RankedTensorOf<[FloatElement, ComplexElement]>;
def HLOArithmetic : RankedTensorOf<[IntElement, FloatElement, ComplexElement]>;

def HLOFloatOrQuantized : RankedTensorOf<[FloatElement, QuantizedElement]>;
def HLOFloatOrComplexOrQuantized : RankedTensorOf<[
  FloatElement, ComplexElement, QuantizedElement]>;
def HLOArithmeticOrQuantized : RankedTensorOf<[
  IntElement, FloatElement, ComplexElement, QuantizedElement]>;
def HLOFloatVector : 1DTensorOf<[FloatElement, QuantizedElement]>;
// The sizes of a shape, or positions in one, as data.
def HLOSizes : 1DTensorOf<[Index, IntElement]>;
def HLOStaticSizes : Type<And<[HLOSizes.predicate, HasStaticShapePred]>,
  "statically shaped 1D tensor of index or integer", "::mlir::RankedTensorType">;

def HLOScalar : 0DTensorOf<[
  BoolElement, IntElement, FloatElement, ComplexElement, QuantizedElement]>;
def HLOIntScalar : 0DTensorOf<[IntElement]>;

// What flows through an op that does not look at its data.
def HLOValue : AnyTypeOf<[HLOTensor, TokenType]>;
def HLOBuffer : MemRefOf<[
  BoolElement, IntElement, FloatElement, ComplexElement]>;
def HLOLoopValue : AnyTypeOf<[HLOTensor, TokenType, HLOBuffer]>;
def HLOStaticTensor : StaticShapeTensorOf<[
  BoolElement, IntElement, FloatElement, ComplexElement]>;
def HLOStaticValue : AnyTypeOf<[HLOStaticTensor, TokenType]>;
def HLOTuple : NestedTupleOf<[HLOTensor, TokenType, HLOBuffer]>;
def HLOCallValue : AnyTypeOf<[
  TensorOf<[BoolElement, IntElement, FloatElement, ComplexElement]>, TokenType,
  HLOTuple, HLOBuffer, FutureType]>;
def HLONestedValue : AnyTypeOf<[HLOTensor, TokenType, HLOTuple]>;
def HLOTupleElement : AnyTypeOf<[HLOTensor, TokenType, HLOBuffer, HLOTuple]>;

//===----------------------------------------------------------------------===//
// Enumerations, spelled `#stablehlo<mnemonic VALUE>`
//===----------------------------------------------------------------------===//

class HLOEnum<string name, string summary, list<string> cases>
  : I32EnumAttr<name, summary,
      !foreach(i, !range(cases), I32EnumAttrCase<cases[i], i>)> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::stablehlo";
}
class HLOEnumAttr<EnumInfo enum, string mnemonic>
  : EnumAttr<StablehloDialect, enum, mnemonic>;

def ComparisonDirection : HLOEnum<"ComparisonDirection", "relation",
  ["EQ", "NE", "GE", "GT", "LE", "LT"]>;
def ComparisonDirectionAttr
  : HLOEnumAttr<ComparisonDirection, "comparison_direction">;

def ComparisonType : HLOEnum<"ComparisonType", "order of the elements",
  ["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"]>;
def ComparisonTypeAttr : HLOEnumAttr<ComparisonType, "comparison_type">;

def Precision : HLOEnum<"Precision", "precision of a contraction's operand",
  ["DEFAULT", "HIGH", "HIGHEST"]>;
def PrecisionAttr : HLOEnumAttr<Precision, "precision">;
def PrecisionConfigAttr
  : TypedArrayAttrBase<PrecisionAttr, "one precision per operand">;

def FftType : HLOEnum<"FftType", "transform", ["FFT", "IFFT", "RFFT", "IRFFT"]>;
def FftTypeAttr : HLOEnumAttr<FftType, "fft_type">;

def Transpose : HLOEnum<"Transpose", "form of a matrix",
  ["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]>;
def TransposeAttr : HLOEnumAttr<Transpose, "transpose">;

def RngDistribution : HLOEnum<"RngDistribution", "distribution",
  ["UNIFORM", "NORMAL"]>;
def RngDistributionAttr : HLOEnumAttr<RngDistribution, "rng_distribution">;

def RngAlgorithm : HLOEnum<"RngAlgorithm", "generator",
  ["DEFAULT", "THREE_FRY", "PHILOX"]>;
def RngAlgorithmAttr : HLOEnumAttr<RngAlgorithm, "rng_algorithm">;

def ResultAccuracyMode : HLOEnum<"ResultAccuracyMode", "accuracy asked for",
  ["DEFAULT", "HIGHEST", "TOLERANCE"]>;
def ResultAccuracyModeAttr
  : HLOEnumAttr<ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Attributes `#stablehlo.mnemonic<field = value, ..>`: a field that has its
// default is left out, so fields carry the names of the text
//===----------------------------------------------------------------------===//

class StructAttr<string name, string attrMnemonic>
  : AttrDef<StablehloDialect, name> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
}

def DimsField : OptionalArrayRefParameter<"int64_t", "dims"> {
  let parser = "::mlir::stablehlo::parseDims($_parser)";
  let printer = "::mlir::stablehlo::printDims($_printer, $_self)";
}
def IndexField : DefaultValuedParameter<"int64_t", "0">;
def FlagField : AttrOrTypeParameter<"bool", "flag"> {
  let parser = "::mlir::stablehlo::parseFlag($_parser)";
  let printer = [{$_printer << ($_self ? "true" : "false")}];
}
def ToleranceField : APFloatParameter<"tolerance"> {
  let defaultValue = "::llvm::APFloat(0.0)";
  let parser = "::mlir::stablehlo::parseTolerance($_parser)";
  let printer = "$_printer.printFloat($_self)";
}

// Spelled in full.
def ModeField : AttrOrTypeParameter<
    "::mlir::stablehlo::ResultAccuracyModeAttr", "mode"> {
  let printer = "$_printer.printAttribute($_self)";
}

def ResultAccuracyAttr : StructAttr<"ResultAccuracy", "result_accuracy"> {
  let summary = "how far a result may be off";
  let parameters = (ins
    ToleranceField:$atol, ToleranceField:$rtol, IndexField:$ulps,
    ModeField:$mode);
  let constBuilderCall = "$0";
}

def DotDimensionNumbersAttr : StructAttr<"DotDimensionNumbers", "dot"> {
  let summary = "which dims of the operands are paired";
  let parameters = (ins
    DimsField:$lhs_batching_dimensions, DimsField:$rhs_batching_dimensions,
    DimsField:$lhs_contracting_dimensions,
    DimsField:$rhs_contracting_dimensions);
}

def DotAlgorithmAttr : StructAttr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "how a contraction must be computed";
  let parameters = (ins
    "::mlir::Type":$lhs_precision_type, "::mlir::Type":$rhs_precision_type,
    "::mlir::Type":$accumulation_type, "int64_t":$lhs_component_count,
    "int64_t":$rhs_component_count, "int64_t":$num_primitive_operations,
    FlagField:$allow_imprecise_accumulation);
}

def GatherDimensionNumbersAttr
  : StructAttr<"GatherDimensionNumbers", "gather"> {
  let summary = "how indices and windows make up the operand and the result";
  let parameters = (ins
    DimsField:$offset_dims, DimsField:$collapsed_slice_dims,
    DimsField:$operand_batching_dims, DimsField:$start_indices_batching_dims,
    DimsField:$start_index_map, IndexField:$index_vector_dim);
}

def ScatterDimensionNumbersAttr
  : StructAttr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "how indices and windows make up the inputs and the updates";
  let parameters = (ins
    DimsField:$update_window_dims, DimsField:$inserted_window_dims,
    DimsField:$input_batching_dims, DimsField:$scatter_indices_batching_dims,
    DimsField:$scatter_dims_to_operand_dims, IndexField:$index_vector_dim);
}

// `<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`; where that can't say it, `<raw`
// and the fields by name.
def ConvDimensionNumbersAttr
  : AttrDef<StablehloDialect, "ConvDimensionNumbers"> {
  let mnemonic = "conv";
  let summary = "the roles of the dims of a convolution's tensors";
  let parameters = (ins
    "int64_t":$input_batch_dimension, "int64_t":$input_feature_dimension,
    DimsField:$input_spatial_dimensions,
    "int64_t":$kernel_input_feature_dimension,
    "int64_t":$kernel_output_feature_dimension,
    DimsField:$kernel_spatial_dimensions, "int64_t":$output_batch_dimension,
    "int64_t":$output_feature_dimension, DimsField:$output_spatial_dimensions);
  let hasCustomAssemblyFormat = 1;
}

// Printed even if empty.
def IndicesField : ArrayRefParameter<"int64_t", "indices"> {
  let parser = "::mlir::stablehlo::parseDims($_parser)";
  let printer = "::mlir::stablehlo::printDims($_printer, $_self)";
}

def OutputOperandAliasAttr
  : StructAttr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "that part of the result lives in the buffer of part of an "
                "operand";
  let parameters = (ins
    IndicesField:$output_tuple_indices, "int64_t":$operand_index,
    IndicesField:$operand_tuple_indices);
}

// The encoding of a tensor type with unknown sizes: `<4, ?>`, the most that
// each may be. `type_extensions<bounds = [4, ?]>` is its older text.
def BoundsAttr : AttrDef<StablehloDialect, "Bounds",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "bounds";
  let summary = "upper bounds of a tensor's unknown sizes";
  let parameters = (ins ArrayRefParameter<"int64_t">:$bounds);
  let hasCustomAssemblyFormat = 1;
}
def TypeExtensionsAttr : AttrDef<StablehloDialect, "TypeExtensions"> {
  let mnemonic = "type_extensions";
  let summary = "parses to bounds";
  let parameters = (ins ArrayRefParameter<"int64_t">:$bounds);
  let hasCustomAssemblyFormat = 1;
}

def ChannelHandleAttr : StructAttr<"ChannelHandle", "channel_handle"> {
  let summary = "the channel of a communication";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
}

//===----------------------------------------------------------------------===//
// Meshes, as replica groups name them
//===----------------------------------------------------------------------===//

def MeshAxisAttr : AttrDef<StablehloDialect, "MeshAxis"> {
  let mnemonic = "mesh_axis";
  let summary = "a named axis of devices";
  let parameters = (ins StringRefParameter<"name">:$name, "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
}

// `<axes=[<name = "a", size = 2>], device_ids=dense<[1, 0]> : tensor<2xi64>>`
def MeshAttr : AttrDef<StablehloDialect, "Mesh"> {
  let mnemonic = "mesh";
  let summary = "devices in a grid, in the order of `device_ids` if given";
  let parameters = (ins
    ArrayRefParameter<"::mlir::stablehlo::MeshAxisAttr">:$axes,
    OptionalParameter<"::mlir::DenseIntElementsAttr">:$device_ids);
  let hasCustomAssemblyFormat = 1;
}

def SubAxisInfoAttr : AttrDef<StablehloDialect, "SubAxisInfo"> {
  let mnemonic = "sub_axis_info";
  let summary = "the part of `size` of an axis, `pre_size` to its left";
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let assemblyFormat = "`(` $pre_size `)` `` $size";
}

def AxisRefAttr : AttrDef<StablehloDialect, "AxisRef"> {
  let mnemonic = "axis_ref";
  let summary = "a mesh axis, or part of it";
  let parameters = (ins StringRefParameter<"name">:$name,
    OptionalParameter<"::mlir::stablehlo::SubAxisInfoAttr">:$sub_axis_info);
  let assemblyFormat = "`<` struct(params) `>`";
}

def ReplicaGroupMeshAxesAttr : StructAttr<"ReplicaGroupMeshAxes",
                                          "replica_group_mesh_axes"> {
  let summary = "groups of the devices that differ only along some axes";
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::ArrayAttr":$axes);
  let genVerifyDecl = 1;
}

def ReplicaGroupsAttr : AnyAttrOf<[I64ElementsAttr, ReplicaGroupMeshAxesAttr]>;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

// All types agree: unknown sizes match every size, quantized elements those of
// the same storage and expressed type.
def CompatibleTypes : NativeOpTrait<"CompatibleOperandsAndResultTypes"> {
  let cppNamespace = "::mlir::stablehlo";
}
def CompatibleElementTypes
  : NativeOpTrait<"CompatibleOperandsAndResultElementTypes"> {
  let cppNamespace = "::mlir::stablehlo";
}

def DimAttr : ConfinedAttr<I64Attr, [IntNonNegative]>;

class HLOOp<string mnemonic, list<Trait> traits = []>
  : Op<StablehloDialect, mnemonic, traits> {
  code moreDeclarations = "";
  // Compares inferred and written result types: unknown sizes match every size.
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange written) {
      return ::mlir::stablehlo::areCompatible(inferred, written);
    }
  }] # moreDeclarations;
}

// An op whose result types follow from its operands and attributes: builders
// need no types, and types in the text are checked against the inferred ones.
class InferringOp<string mnemonic, list<Trait> traits = []>
  : HLOOp<mnemonic, traits # [InferTypeOpAdaptor]>;

#endif // SHARDONNAY_DIALECT_STABLEHLO_BASE_TD
