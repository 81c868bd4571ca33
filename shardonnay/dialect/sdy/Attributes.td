//===- Attributes.td - meshes, axes, shardings, rules ------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_ATTRIBUTES_TD
#define SHARDONNAY_DIALECT_SDY_ATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "shardonnay/dialect/sdy/Dialect.td"

class Sdy_Attr<string name, string attrMnemonic>
    : AttrDef<Sdy_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Meshes and axes
//===----------------------------------------------------------------------===//

def Sdy_MeshAxis : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "a named mesh axis and its size: `\"x\"=2`";
  let description = [{
    `"x"=?` has no size yet: how many devices there are says it, when they are
    known (sdy-bind-axis-sizes). Such an axis is used whole, not in parts.
  }];
  let parameters = (ins StringRefParameter<"axis name">:$name,
                        "int64_t":$declared_size);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// False of `"x"=?`.
    bool hasSize() const {
      return !::mlir::ShapedType::isDynamic(getDeclaredSize());
    }
    /// 1 as long as there is none: the program has one device at least.
    int64_t getSize() const { return hasSize() ? getDeclaredSize() : 1; }
  }];
}

def Sdy_Mesh : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "devices as an array with one dim for each axis, row-major";
  let description = [{
    `<["x"=2, "y"=4]>`, or `<["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>` if the
    devices do not stand in their own order. `<["x"=?, "y"=4]>` is for any
    number of devices that 4 divides. `<[]>` is the *empty* mesh, for
    shardings that use no axis; `<[], device_ids=[3]>` a *maximal* mesh: one
    device holds the whole tensor.
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"MeshAxisAttr", "major to minor">:$axes,
    OptionalArrayRefParameter<"int64_t",
      "the device at each position; empty for the identity">:$device_ids);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// No axes and no device: a placeholder.
    bool isEmpty() const { return getAxes().empty() && getDeviceIds().empty(); }
    /// No axes and one device, which holds everything.
    bool isMaximal() const {
      return getAxes().empty() && !getDeviceIds().empty();
    }
    /// No axis is `?`.
    bool hasSizes() const;
    /// The product of the axis sizes.
    int64_t getNumDevices() const;
    /// The place of the axis named `name`, or -1.
    int64_t getAxisIndex(::llvm::StringRef name) const;
    /// The same axes in the same order; the devices' order may differ.
    bool hasSameAxes(MeshAttr other) const {
      return getAxes() == other.getAxes();
    }
  }];
}

def Sdy_SubAxisInfo : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "the part `(pre)size` of an axis";
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let genVerifyDecl = 1;
}

def Sdy_AxisRef : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "a mesh axis `\"x\"` or a part of one, `\"x\":(2)4`";
  let parameters = (ins StringRefParameter<"axis name">:$name,
                        OptionalParameter<"SubAxisInfoAttr">:$sub_axis_info);
  let extraClassDeclaration = [{
    /// As it is written in a sharding, for diagnostics.
    std::string toString() const;
  }];
}

def Sdy_AxisRefList : Sdy_Attr<"AxisRefList", "axis_ref_list"> {
  let summary = "ordered axes: `{\"x\", \"y\":(1)2}`";
  let parameters = (ins OptionalArrayRefParameter<"AxisRefAttr">:$value);
}

def Sdy_ListOfAxisRefLists
    : Sdy_Attr<"ListOfAxisRefLists", "list_of_axis_ref_lists"> {
  let summary = "axes for each dim: `[{\"x\"}, {}]`";
  let parameters = (ins OptionalArrayRefParameter<"AxisRefListAttr">:$value);
}

def Sdy_ManualAxes : Sdy_Attr<"ManualAxes", "manual_axes"> {
  let summary = "names of full axes: `{\"x\", \"y\"}`";
  let parameters = (ins OptionalArrayRefParameter<"StringAttr">:$value);
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

def Sdy_ReductionKind : Sdy_Attr<"ReductionKind", "reduction_kind"> {
  let summary = "how partial values combine: `sum`, `max` or `min`";
  let parameters = (ins "::shardonnay::ReductionKind":$value);
  let returnType = "::shardonnay::ReductionKind";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall =
      "::mlir::sdy::ReductionKindAttr::get($_builder.getContext(), $0)";
}

def Sdy_DimensionSharding
    : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "the axes that shard a dim: `{\"x\", \"y\", ?}p1`";
  let description = [{
    Axes from major to minor, `?` if propagation may add more (the dim is
    *open*), and a priority: the round of propagation, 0 if absent.
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"AxisRefAttr", "major to minor">:$axes,
    "bool":$is_closed,
    OptionalParameter<"std::optional<int64_t>">:$priority);
  let extraClassDeclaration = [{
    int64_t getPriorityOrDefault() const { return getPriority().value_or(0); }
  }];
}

def Sdy_TensorSharding : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "what is known of how a tensor is sharded";
  let description = [{
    `<@mesh, [{"x"}, {"y", ?} ], replicated={"z"}, unreduced={"w"}>`: a mesh (a
    symbol, or in place: `mesh<["x"=2]>`), a dim sharding for each dim, axes
    that must not be used, and axes along which the tensor is partial. Partial
    values add up unless a kind is given: `unreduced=max{"w"}`.
  }];
  let parameters = (ins
    "::mlir::Attribute":$mesh_or_ref,
    OptionalArrayRefParameter<"DimensionShardingAttr">:$dim_shardings,
    OptionalArrayRefParameter<"AxisRefAttr">:$replicated_axes,
    OptionalArrayRefParameter<"AxisRefAttr">:$unreduced_axes,
    "::shardonnay::ReductionKind":$reduction_kind);
  let builders = [
    AttrBuilder<(ins
        "::mlir::Attribute":$mesh_or_ref,
        "::llvm::ArrayRef<DimensionShardingAttr>":$dim_shardings,
        CArg<"::llvm::ArrayRef<AxisRefAttr>", "{}">:$replicated_axes,
        CArg<"::llvm::ArrayRef<AxisRefAttr>", "{}">:$unreduced_axes), [{
      return $_get($_ctxt, mesh_or_ref, dim_shardings, replicated_axes,
                   unreduced_axes, ::shardonnay::ReductionKind::Sum);
    }]>,
  ];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getDimShardings().size(); }
    /// The mesh's name; null if the mesh stands in the attribute.
    FlatSymbolRefAttr getMeshSymbol() const {
      return ::llvm::dyn_cast<FlatSymbolRefAttr>(getMeshOrRef());
    }
    /// No axis anywhere but in the replicated list.
    bool isReplicated() const;
    /// No dim is open.
    bool isFullyClosed() const;
    /// `rank` open dims without axes.
    static TensorShardingAttr getFullyOpen(MLIRContext *context, int64_t rank,
                                           Attribute meshOrRef);
    /// `rank` closed dims without axes.
    static TensorShardingAttr getFullyClosed(MLIRContext *context, int64_t rank,
                                             Attribute meshOrRef);
  }];
}

def Sdy_TensorShardingPerValue
    : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "a sharding for each result, operand or argument";
  let parameters = (ins
    OptionalArrayRefParameter<"TensorShardingAttr">:$shardings);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

def Sdy_DimMapping : Sdy_Attr<"DimMapping", "dim_mapping"> {
  let summary = "the factors of a dim, major to minor: `ij`";
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$factor_indices);
}

def Sdy_TensorMapping : Sdy_Attr<"TensorMapping", "tensor_mapping"> {
  let summary = "the factors of each dim of a tensor: `[ij, k]`";
  let parameters = (ins
    OptionalArrayRefParameter<"DimMappingAttr">:$dim_mappings);
}

def Sdy_OpShardingRule : Sdy_Attr<"OpShardingRule", "op_sharding_rule"> {
  let summary = "how the dims of an operation decompose into factors";
  let description = [{
    `<([i, k], [k, j])->([i, j]) {i=8, j=4, k=2} reduction={k}>`: the printable
    view of a `shardonnay::FactorRule`. Factors are written i .. z, z_1, z_2, ..
    A factor in none of the lists `reduction`, `need_replication`,
    `permutation` is passed through; `blocked_propagation` may name any.
    `custom`: given by the user, replaces what the operation says itself.
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"int64_t">:$factor_sizes,
    OptionalArrayRefParameter<"TensorMappingAttr">:$operand_mappings,
    OptionalArrayRefParameter<"TensorMappingAttr">:$result_mappings,
    OptionalArrayRefParameter<"int64_t">:$reduction_factors,
    OptionalArrayRefParameter<"int64_t">:$need_replication_factors,
    OptionalArrayRefParameter<"int64_t">:$permutation_factors,
    OptionalArrayRefParameter<"int64_t">:$blocked_propagation_factors,
    "bool":$is_custom);
}

//===----------------------------------------------------------------------===//
// Parameters of collectives
//===----------------------------------------------------------------------===//

def Sdy_AllToAllParam : Sdy_Attr<"AllToAllParam", "all_to_all_param"> {
  let summary = "axes that move from one dim to another: `{\"x\"}: 0->1`";
  let parameters = (ins OptionalArrayRefParameter<"AxisRefAttr">:$axes,
                        "int64_t":$src_dim, "int64_t":$tgt_dim);
  let genVerifyDecl = 1;
}

def Sdy_AllToAllParamList
    : Sdy_Attr<"AllToAllParamList", "all_to_all_param_list"> {
  let summary = "moves of axes: `[{\"x\"}: 0->1, {\"y\"}: 2->3]`";
  let parameters = (ins OptionalArrayRefParameter<"AllToAllParamAttr">:$value);
}

def Sdy_PropagationDirection : I32EnumAttr<"PropagationDirection",
    "where a sharding may flow", [
      I32EnumAttrCase<"NONE", 0>, I32EnumAttrCase<"FORWARD", 1>,
      I32EnumAttrCase<"BACKWARD", 2>, I32EnumAttrCase<"BOTH", 3>]> {
  let cppNamespace = "::mlir::sdy";
}

//===----------------------------------------------------------------------===//
// Records of a propagation
//===----------------------------------------------------------------------===//

def Sdy_EdgeNodeType : I32EnumAttr<"EdgeNodeType", "side of an operation", [
    I32EnumAttrCase<"OPERAND", 0, "operand">,
    I32EnumAttrCase<"RESULT", 1, "result">]> {
  let cppNamespace = "::mlir::sdy";
}

class Sdy_RecordAttr<string name, string attrMnemonic>
    : Sdy_Attr<name, attrMnemonic> {
  let hasCustomAssemblyFormat = 0;
}

def Sdy_EdgeValueRef : Sdy_RecordAttr<"EdgeValueRef", "edge_value_ref"> {
  let summary = "an operand or a result of an operation: `operand-0`";
  let parameters = (ins EnumParameter<Sdy_EdgeNodeType>:$type,
                        "int64_t":$index);
  let assemblyFormat = "$type `` `-` `` $index";
}

def Sdy_AxisToPropagationDetails
    : Sdy_RecordAttr<"AxisToPropagationDetails",
                     "axis_to_propagation_details"> {
  let summary = "where an axis came from and went";
  let description = [{ `{"x" = operand-0 -> [result-0]}` }];
  let parameters = (ins "AxisRefAttr":$axis_name,
                        "EdgeValueRefAttr":$source,
                        ArrayRefParameter<"EdgeValueRefAttr">:$targets);
  let assemblyFormat =
      "`{` $axis_name `=` `` $source `->` custom<EdgeValueRefs>($targets) `}`";
}

def Sdy_PropagationOneStep
    : Sdy_RecordAttr<"PropagationOneStep", "propagation_one_step"> {
  let summary = "what one step of a propagation moved";
  let description = [{ `{step-0 = [{"x" = operand-0 -> [result-0]} ]}` }];
  let parameters = (ins
    "int64_t":$step_index,
    ArrayRefParameter<"AxisToPropagationDetailsAttr">:$axis_entries);
  let assemblyFormat =
      "`{` `step` `` `-` `` $step_index `=` `[` $axis_entries `]` `}`";
}

def Sdy_PropagationEdges
    : Sdy_RecordAttr<"PropagationEdges", "propagation_edges"> {
  let summary = "the steps in which shardings came to an operation's values";
  let description = [{
    `<[{step-0 = [{"x" = operand-0 -> [result-0]} ]} ]>`: in the step number 0 of
    the whole propagation, the axis "x" went from operand 0 to result 0.
  }];
  let parameters = (ins ArrayRefParameter<"PropagationOneStepAttr">:$value);
  let assemblyFormat = "`<` `[` $value `]` `>`";
  let genVerifyDecl = 1;
}

#endif // SHARDONNAY_DIALECT_SDY_ATTRIBUTES_TD
