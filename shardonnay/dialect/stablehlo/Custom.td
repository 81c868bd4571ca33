//===- Custom.td - ops that others define ------------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_STABLEHLO_CUSTOM_TD
#define SHARDONNAY_DIALECT_STABLEHLO_CUSTOM_TD

include "mlir/IR/SymbolInterfaces.td"
include "shardonnay/dialect/stablehlo/Base.td"

// 0: unspecified, 1: original, 2: returns a status, 3: the same for all
// devices, 4: typed FFI.
def ApiVersionAttr : ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<4>]>;
def LayoutAttr : ConfinedAttr<IndexElementsAttr, [AttrConstraint<
  CPred<"::llvm::cast<::mlir::DenseIntElementsAttr>($_self).getType()"
        ".getRank() == 1">, "the dims, minor to major">]>;

// Lists and dictionaries that may be left out for an empty one.
class ListAttr<Attr element, string summary>
  : TypedArrayAttrBase<element, summary> {
  let constBuilderCall = "$_builder.getArrayAttr($0)";
}
def FunctionsAttr : ListAttr<FlatSymbolRefAttr, "functions">;
def AliasesAttr : ListAttr<OutputOperandAliasAttr, "aliases">;
def AttributesAttr : DictionaryAttrBase<
    CPred<"::llvm::isa<::mlir::DictionaryAttr>($_self)">, "attributes"> {
  let constBuilderCall = "$_builder.getDictionaryAttr($0)";
}

def CustomCallOp : HLOOp<"custom_call", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a computation that the engine knows by name";
  let description = [{
    ```
    %1 = stablehlo.custom_call @target(%0) {backend_config = ".."} :
      (tensor<4xf32>) -> tensor<4xf32>
    ```
    Without `has_side_effect` equal calls merge and unused ones disappear.
  }];
  let arguments = (ins Variadic<HLOCallValue>:$inputs,
    StrAttr:$call_target_name,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
    OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
    DefaultValuedOptionalAttr<ApiVersionAttr, "1">:$api_version,
    DefaultValuedOptionalAttr<FunctionsAttr, "{}">:$called_computations,
    OptionalAttr<TypedArrayAttrBase<LayoutAttr, "layouts">>:$operand_layouts,
    OptionalAttr<TypedArrayAttrBase<LayoutAttr, "layouts">>:$result_layouts,
    DefaultValuedOptionalAttr<AliasesAttr, "{}">:$output_operand_aliases);
  let results = (outs Variadic<HLOCallValue>);
  let assemblyFormat = [{
    custom<CallTarget>($call_target_name) `(` $inputs `)` attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CompositeOp : HLOOp<"composite", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a function, under the name that an engine may know it by";
  let arguments = (ins Variadic<HLONestedValue>:$inputs, StrAttr:$name,
    DefaultValuedOptionalAttr<AttributesAttr, "{}">:$composite_attributes,
    FlatSymbolRefAttr:$decomposition,
    DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let results = (outs Variadic<HLONestedValue>);
  let regions = (region VariadicRegion<AnyRegion>:$composite_regions);
  let assemblyFormat = [{
    $name $inputs `` custom<Regions>($composite_regions) attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TupleOp : InferringOp<"tuple", [Pure]> {
  let summary = "several values as one";
  let arguments = (ins Variadic<HLOTupleElement>:$val);
  let results = (outs HLOTuple:$result);
  let assemblyFormat = [{
    $val attr-dict `:` custom<TupleType>(type($val), type($result))
  }];
}

def GetTupleElementOp : InferringOp<"get_tuple_element", [Pure]> {
  let summary = "one value of a tuple";
  let arguments = (ins HLOTuple:$operand,
                       ConfinedAttr<I32Attr, [IntNonNegative]>:$index);
  let results = (outs HLOTupleElement:$result);
  let hasCanonicalizeMethod = 1;
  let assemblyFormat = [{
    $operand `[` $index `]` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // SHARDONNAY_DIALECT_STABLEHLO_CUSTOM_TD
