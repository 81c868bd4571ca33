//===- Passes.td - a program becomes ready to propagate ----*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the order of the pipeline:
//   sdy-import-encodings, sdy-check-strict, sdy-lift-inlined-meshes,
//   sdy-bind-axis-sizes, sdy-inline-collective-meshes,
//   sdy-fold-single-device-collectives, sdy-inline-private-functions,
//   sdy-check-supported, sdy-remove-size-one-axes,
//   sdy-constant-or-scalar-splitter,
//   sdy-derive-op-shardings, sdy-apply-op-shardings,
//   sdy-manual-axes-cleanup, sdy-add-data-flow-edges,
//   sdy-apply-sharding-constraints, sdy-sharding-group-import
//
// Where functions are kept (sdy-propagation-pipeline) they are not inlined, but
//   sdy-erase-unused-symbols (also after what makes some unused),
//   sdy-propagate-sharding-from-func-to-call, then
//   sdy-flatten-call-graph, sdy-import-func-calls, or
//   sdy-add-func-data-flow-edges, sdy-pre-order-funcs
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_IMPORT_PASSES_TD
#define SHARDONNAY_TRANSFORMS_IMPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

class ImportPass<string name> : Pass<name, "mlir::ModuleOp"> {
  let dependentDialects = ["mlir::sdy::SdyDialect"];
}

def ImportEncodingsPass : ImportPass<"sdy-import-encodings"> {
  let summary = "The sharding in a value's type becomes the value's";
  let description = [{
    Programs of the Mesh dialect's design write a sharding as the encoding of a
    tensor type. It is checked as one that is written for the value, and becomes
    that; types lose it. One that differs from what is written is an error.

    Precondition: none. Postcondition: no type has a sharding.

    ```mlir
    func.func @f(%a: tensor<8xf32, #sdy.sharding<@mesh, [{"x"} ]>>)
    ```
    becomes
    ```mlir
    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"} ]>})
    ```
  }];
}

def CheckStrictPass : ImportPass<"sdy-check-strict"> {
  let summary = "What the documents ask for beyond the verifiers";
  let description = [{
    Verifiers accept what the existing dialects accept, and so what JAX prints.
    The constraints from C80 on (docs/reference/constraints.md) are stricter:
    one warning for each that the program breaks, at the first place; with
    `strict` an error at each place. Manual axes that no dim uses are replicated,
    and JAX does not say so: C82 is for `strict` alone.

    Precondition: none; it runs once, on the program as it was given. Changes
    nothing.

    ```mlir
    sdy.sharding_constraint %0 <@mesh, [{"x"} ]> : tensor<1xf32>
    ```
    ```
    warning: dim 0 of size 1 is sharded by "x": nothing is left ... [C80]
    ```
  }];
  let options = [Option<"strict", "strict", "bool", /*default=*/"false",
                        "Errors instead of warnings">];
}

def LiftInlinedMeshesPass : ImportPass<"sdy-lift-inlined-meshes"> {
  let summary = "Gives every mesh one name, and every sharding a mesh by name";
  let description = [{
    Meshes that stand in shardings become symbols; of equal meshes the first one
    stays. Shardings on the empty mesh name no axis, so they mean the same on
    any mesh: they move to the one that the program's shardings use. With
    `collectives` those that the user's collectives spell out are symbols too.

    Precondition: none. Postcondition: every sharding names its mesh; no two
    meshes are equal.

    ```mlir
    sdy.sharding_constraint %0 <mesh<["x"=2]>, [{"x"} ]>
    ```
    becomes
    ```mlir
    sdy.mesh @mesh = <["x"=2]>
    sdy.sharding_constraint %0 <@mesh, [{"x"} ]>
    ```
  }];
  let options = [Option<"collectives", "collectives", "bool",
                        /*default=*/"true",
                        "The user's collectives name their meshes too">];
}

def BindAxisSizesPass : ImportPass<"sdy-bind-axis-sizes"> {
  let summary = "Axes of size `?` have the sizes that the devices say";
  let description = [{
    What the known sizes of a mesh leave of `devices` is the size of its axis
    `?`; several such axes share it, as equally as they can, larger sizes first.
    It is an error if there is a `?` and no `devices`, if the known sizes don't
    divide it, and if the program's mesh is of another number of devices.

    Precondition: every sharding names its mesh. Postcondition: every axis has a
    size.

    ```mlir
    sdy.mesh @mesh = <["x"=?, "y"=2]>
    ```
    with `devices=8` becomes
    ```mlir
    sdy.mesh @mesh = <["x"=4, "y"=2]>
    ```
  }];
  let options = [Option<"devices", "devices", "int64_t", /*default=*/"0",
                        "How many devices there are; 0: as the meshes say">];
}

def InlineCollectiveMeshesPass : ImportPass<"sdy-inline-collective-meshes"> {
  let summary = "The user's collectives spell out the meshes that they name";
  let description = [{
    Later stages give a mesh another order of devices, or erase it; what the
    user's collectives send along stays as it was written. On a mesh with an
    order of devices they have groups of devices: engines do not read the order.

    Precondition: every axis has a size. Postcondition: no collective of the
    user's names a mesh of the module, none a mesh with an order of devices.

    ```mlir
    #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
    ```
    becomes
    ```mlir
    #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>]>, axes = [..]>
    ```
  }];
}

def FoldSingleDeviceCollectivesPass
    : ImportPass<"sdy-fold-single-device-collectives"> {
  let summary = "The user's collectives among single devices are their operands";
  let description = [{
    Where a mesh axis has one device, JAX writes what is reduced, gathered or
    exchanged along it with groups of one device, and no manual computation
    around it. There each device gets what it has. A permute that nobody sends
    in gives zeros.

    Precondition: every axis has a size, and no collective names its mesh.
    Postcondition: no collective of the user's in which all devices are alone,
    but those whose results differ from their operands in type.

    ```mlir
    %1 = ... // the user's gather of %0 in groups [[0], [1]]
    return %1
    ```
    becomes
    ```mlir
    return %0
    ```
  }];
}

def InlinePrivateFunctionsPass : ImportPass<"sdy-inline-private-functions"> {
  let summary = "Puts the bodies of private functions in place of their calls";
  let description = [{
    Everywhere, also in regions, callees first. Shardings of the callee's
    arguments and results, and of the call's results, become constraints. The
    locations of inlined ops say where they were called. Private functions that
    nothing refers to any more go, and other dialects' private symbols (the
    seed that torch-mlir writes). Recursion is an error. Of several public
    functions those that another op than a call names (the comparator of JAX's
    `approx_max_k`) are private first.

    With `keep-shared-of=n` a function of n ops or more that several calls have
    in common is left, and its calls.

    Precondition: no recursion. Postcondition: no other call of a private
    function that has a body, and no private symbol that nothing reaches but
    meshes.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    func.func private @f(%b: tensor<8xf32> {sdy.sharding = <@mesh, [{"x"} ]>})
    ```
    becomes
    ```mlir
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"} ]> : tensor<8xf32>
    // the body of @f on %0
    ```
  }];
  let options = [Option<
      "keepSharedOf", "keep-shared-of", "int64_t", "0",
      "Leave functions of so many ops that are called more than once; 0: none">];
}

def CheckSupportedPass : ImportPass<"sdy-check-supported"> {
  let summary = "Refuses programs that cannot be partitioned yet";
  let description = [{
    An error at each place: operations with regions, unless they pass values on,
    or have a sharding rule and regions that use no tensor from outside; dynamic
    shapes; meshes of different numbers of devices; calls that were not inlined;
    functions of
    several blocks; not one public function; operations on tensors that no model
    describes, but in manual computations, where each device runs them on what
    it has; more than one replica; tensors
    and meshes whose sizes are out of reach of 64-bit arithmetic.

    Precondition: after sdy-lift-inlined-meshes and
    sdy-inline-private-functions. Postcondition: what the stages up to emission
    rely on. Changes nothing.

    ```mlir
    func.func @main(%a: tensor<?xf32>)
    ```
    is an error: expected static shapes, got 'tensor<?xf32>'.
  }];
}

def RemoveSizeOneAxesPass : ImportPass<"sdy-remove-size-one-axes"> {
  let summary = "Takes axes of size 1 out of all shardings";
  let description = [{
    They shard nothing, but two of them would conflict. The mesh keeps them.

    Precondition: meshes have names (after sdy-lift-inlined-meshes), or all
    stand in shardings. Postcondition: no sharding names an axis of size 1, and
    parts of an axis that became neighbours are merged.

    ```mlir
    sdy.mesh @mesh = <["x"=1, "y"=2]>
    sdy.sharding_constraint %0 <@mesh, [{"x", "y"} ]>
    ```
    becomes
    ```mlir
    sdy.sharding_constraint %0 <@mesh, [{"y"} ]>
    ```
  }];
}

def ReductionsToConstraintsPass : ImportPass<"sdy-reductions-to-constraints"> {
  let summary = "Constrains what a program reduces without that it is partial";
  let description = [{
    A value is whole where no sharding says that it is partial: to reduce it, as
    other partitioners do behind a contraction, would add copies. Precondition:
    meshes have names. Postcondition: what `sdy` ops reduce is partial.

    ```mlir
    %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {} ]> : tensor<8x8xf32>
    // becomes
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {} ]> : tensor<8x8xf32>
    ```
  }];
}

def TrimConstraintsPass : ImportPass<"sdy-trim-constraints"> {
  let summary = "Takes axes out of constraints that shard nothing there";
  let description = [{
    Where the axes before an axis shard a dim into single elements already, the
    axis leaves more devices without one, and each that holds one, or padding,
    has room for as much without the axis. Programs that constrain a sequence
    along its length constrain single tokens too: what is then padded to the
    number of devices would be sent with the padding.

    Precondition: meshes have names, or stand in shardings. Postcondition: no
    constraint violates C80. What is given for arguments, results and manual
    computations stays.

    ```mlir
    sdy.mesh @mesh = <["x"=2, "y"=4]>
    sdy.sharding_constraint %0 <@mesh, [{"y"}, {"x"} ]> : tensor<1x2xf32>
    ```
    becomes
    ```mlir
    sdy.sharding_constraint %0 <@mesh, [{}, {"x"} ]> : tensor<1x2xf32>
    ```
  }];
}

def ConstantOrScalarSplitterPass
    : ImportPass<"sdy-constant-or-scalar-splitter"> {
  let summary = "Gives every use of a constant expression its own copy";
  let description = [{
    So that no sharding flows from one use to another. A constant expression is
    a constant, or an op with ConstantExpressionOpInterface on constant
    expressions only. Such an op that makes a tensor of scalars is copied too,
    whatever computes these. Constants become `sdy.constant`. Values of rank 0
    can't be sharded and are not copied. A member of a sharding group stays one
    in each copy.

    Precondition: any program. Postcondition: no constant expression of a
    rank above 0 serves two uses by ops that are none; constants of tensors
    are `sdy.constant`.

    ```mlir
    %c = stablehlo.constant dense<0.0> : tensor<8xf32>
    %0 = stablehlo.add %a, %c : tensor<8xf32>
    %1 = stablehlo.multiply %b, %c : tensor<8xf32>
    ```
    becomes
    ```mlir
    %c0 = sdy.constant dense<0.0> : tensor<8xf32>
    %c1 = sdy.constant dense<0.0> : tensor<8xf32>
    %0 = stablehlo.add %a, %c0 : tensor<8xf32>
    %1 = stablehlo.multiply %b, %c1 : tensor<8xf32>
    ```
  }];
}

def AddDataFlowEdgesPass : ImportPass<"sdy-add-data-flow-edges"> {
  let summary = "Puts an edge on every class of values that must agree";
  let description = [{
    For each owner of a ShardableDataFlowOpInterface op. The edge takes the
    owner's sharding and all its uses.

    Precondition: any program; an owner that has an edge keeps it.
    Postcondition: every owner of static shape has one `sdy.data_flow_edge`,
    which has its sharding; all other uses take the edge's result. An owner
    that is a tuple or a tensor of dynamic shape is an error.

    ```mlir
    %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
    %1 = sdy.data_flow_edge %0 : tensor<8xf32>
    ```
  }];
}

def ApplyShardingConstraintsPass
    : ImportPass<"sdy-apply-sharding-constraints"> {
  let summary = "Applies constraints to the values that they constrain";
  let description = [{
    To a value without a sharding: a constraint without open dims and without
    unreduced axes, where no other constraint of the value differs, becomes the
    value's sharding; if the value is a data-flow edge, its other uses move to
    the constraint instead. What a manual computation takes a value in is a
    constraint of it, too. If the value's only constraint starts a chain of
    constraints, each the only use of the one before, its uses behind the chain
    in the same block (the terminator aside) move to the last one.

    Precondition: after sdy-add-data-flow-edges. Postcondition: the
    constraints are all there still; no sharding that was written has
    changed.

    ```mlir
    %0 = stablehlo.sine %a : tensor<8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"} ]> : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.sine %a {sdy.sharding = <[<@mesh, [{"x"} ]>]>}
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"} ]> : tensor<8xf32>
    ```
  }];
  let options = [
    Option<"debugShardingOrigins", "debug-sharding-origins", "bool", "false",
           "Write `sdy.sharding_origins`: where each axis of a value came from">,
    Option<"debugPropagationEdgeSharding", "debug-propagation-edge-sharding",
           "bool", "false",
           "Write `sdy.propagation_edges`: what each constraint gave its input">];
}

def DeriveOpShardingsPass : ImportPass<"sdy-derive-op-shardings"> {
  let summary = "Writes the sharding of an op's factors that its annotations give";
  let description = [{
    The default of `getShardingOption` of the Mesh dialect's design: what results
    are annotated with comes first, partial values along an axis saying that the
    dim which the op reduces over is sharded by it; then operands, where a factor
    has no axes yet and no other factor has these. An op that has an op sharding
    keeps it.

    Of ops with a partial result, or with `all` of all ops. With `all`
    annotations of results that contradict each other are an error; without,
    the op is left to propagation.

    Precondition: each op with a partial result is annotated as it is computed.
    Postcondition: such an op has `sdy.op_sharding`.

    ```mlir
    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<
        [<@mesh, [{}, {} ], unreduced={"x"}>]>}
        : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
    ```
    gets
    ```mlir
    sdy.op_sharding = #sdy.sharding<@mesh, [{}, {}, {"x"} ]>
    ```
  }];
  let options = [Option<"all", "all", "bool", "false",
                        "Of all ops that are annotated">];
}

def ApplyOpShardingsPass : ImportPass<"sdy-apply-op-shardings"> {
  let summary = "Gives the tensors of an op the shardings that the op's has";
  let description = [{
    `setShardingAnnotations` of the Mesh dialect's design. An op sharding
    (`sdy.op_sharding`) shards the factors of the op's rule, in their order, as
    `sdy-populate-op-sharding-rules` prints it. Results get what the op leaves
    them with; operands are constrained for this use. If no factor is open, the
    op is computed so, whatever else costs less (`sdy-insert-explicit-reshards`);
    if one is, its dims are open and the sharding is a hint.

    An error: another number of factors, one that is needed whole, a number of
    shards that does not divide it, and a result that is sharded otherwise.

    Precondition: after sdy-constant-or-scalar-splitter. Postcondition: ops
    keep their op shardings.

    ```mlir
    %0 = stablehlo.dot %a, %b {sdy.op_sharding = #sdy.sharding<@mesh, [{}, {}, {"x"} ]>}
        : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
    ```
    becomes
    ```mlir
    %0 = sdy.sharding_constraint %a <@mesh, [{}, {"x"} ]> : tensor<8x32xf32>
    %1 = sdy.sharding_constraint %b <@mesh, [{"x"}, {} ]> : tensor<32x8xf32>
    %2 = stablehlo.dot %0, %1 {sdy.sharding = #sdy.sharding_per_value<
        [<@mesh, [{}, {} ], unreduced={"x"}>]>, ..}
    ```
  }];
}

def PropagateShardingFromFuncToCallPass
    : ImportPass<"sdy-propagate-sharding-from-func-to-call"> {
  let summary = "Gives calls without shardings those of the callee's results";
  let description = [{
    A call with an `sdy.sharding` keeps it whole.

    Precondition: functions are kept. Postcondition: a call of a function
    with a body has shardings if that one's results do.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    func.func private @f(%b: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"} ]>})
    ```
    becomes
    ```mlir
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
}

def ManualAxesCleanupPass : ImportPass<"sdy-manual-axes-cleanup"> {
  let summary = "Every sharding of a manual computation lists all manual axes";
  let description = [{
    Those that shard nothing stand in `replicated`. The manual axes are listed
    in the order of the mesh.

    Precondition: after sdy-lift-inlined-meshes and
    sdy-remove-size-one-axes. Postcondition: every in- and out-sharding of a
    manual computation names each manual axis of a size above 1, in a dim,
    in `replicated` or in `unreduced`.

    ```mlir
    sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"} ]>] out_shardings=[] manual_axes={"y", "x"}
    ```
    becomes
    ```mlir
    sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"} ], replicated={"y"}>] out_shardings=[] manual_axes={"x", "y"}
    ```
  }];
}

def EraseUnusedSymbolsPass : ImportPass<"sdy-erase-unused-symbols"> {
  let summary = "Erases private symbols that nothing in use refers to";
  let description = [{
    What MLIR's symbol-dce does to the symbols of a module, in a time that is
    that of reading it until the last private symbol is found, and nothing where
    there is none.

    Precondition: none. Postcondition: every private symbol is referred to,
    directly or through others, by what is no private symbol.

    ```mlir
    func.func private @unused(%a: tensor<8xf32>) -> tensor<8xf32> { .. }
    ```
    goes.
  }];
}

def FlattenCallGraphPass : ImportPass<"sdy-flatten-call-graph"> {
  let summary = "Gives every call a callee of its own";
  let description = [{
    The first call keeps the function; each further one gets a copy, which
    remembers the function's name in `sdy.original_func_name`. Recursion is an
    error.

    Precondition: functions are kept. Postcondition: no two calls that a
    public function reaches have one callee with a body.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f_0(%0) : (tensor<8xf32>) -> tensor<8xf32>
    func.func private @f_0(..) attributes {sdy.original_func_name = "f"}
    ```
  }];
}

def ImportFuncCallsPass : ImportPass<"sdy-import-func-calls"> {
  let summary = "Turns calls into named computations";
  let description = [{
    Shardings of the callee's arguments become in-shardings, those of the call
    out-shardings. Private functions that nothing calls any more go.

    Precondition: functions that are called have one block; no recursion.
    Postcondition: no call of a function that has a body.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = sdy.named_computation<"f">(%a) (%b: tensor<8xf32>) {
      // the body of @f
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let options = [Option<
      "addDataFlowEdgesOnNamedComputations",
      "add-data-flow-edges-on-named-computations", "bool", "true",
      "Put edges on the arguments and results of the new computations">];
}

def PreOrderFuncsPass : ImportPass<"sdy-pre-order-funcs"> {
  let summary = "Orders functions: callers before those that they call";
  let description = [{
    Precondition: no recursion, which is an error. Postcondition: every
    function comes before those that it calls.

    ```mlir
    func.func private @f(..)
    func.func @main(..) { call @f(..) }
    ```
    becomes
    ```mlir
    func.func @main(..) { call @f(..) }
    func.func private @f(..)
    ```
  }];
}

def AddFuncDataFlowEdgesPass : ImportPass<"sdy-add-func-data-flow-edges"> {
  let summary = "Puts an edge on the arguments of called functions, and on calls";
  let description = [{
    So that shardings flow between what all calls pass and the argument, and
    between what the function returns and each call's result.

    Precondition: functions are kept as they are, not flattened.
    Postcondition: every tensor that a call of a function with a body
    returns, and every tensor argument of such a function, has one
    `sdy.func_data_flow_edge`, which has its sharding.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
    ```
  }];
}

def ShardingGroupImportPass : ImportPass<"sdy-sharding-group-import"> {
  let summary = "Merges sharding groups that share a value, and numbers them";
  let description = [{
    Groups are numbered from 0 in the order of their first member; a value is in
    its group once. Members of different shapes are an error.

    Precondition: any program. Postcondition: no value is in two groups, the
    groups are numbered without gaps, and the members of each have one
    shape.

    ```mlir
    sdy.sharding_group %a group_id=5 : tensor<8xf32>
    sdy.sharding_group %a group_id=7 : tensor<8xf32>
    sdy.sharding_group %b group_id=7 : tensor<8xf32>
    ```
    becomes
    ```mlir
    sdy.sharding_group %a group_id=0 : tensor<8xf32>
    sdy.sharding_group %b group_id=0 : tensor<8xf32>
    ```
  }];
}

#endif // SHARDONNAY_TRANSFORMS_IMPORT_PASSES_TD
