//===- Passes.td - finishing what propagation decided ------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the order of the pipeline. Between them, these turn what only propagation
// needs into what stays: shardings that say exactly how each value is sharded.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_EXPORT_PASSES_TD
#define SHARDONNAY_TRANSFORMS_EXPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

class ExportPass<string name, string anchor> : Pass<name, anchor> {
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}
class FuncPass<string name> : ExportPass<name, "::mlir::func::FuncOp">;
class ModulePass<string name> : ExportPass<name, "::mlir::ModuleOp">;

def ConstantOrScalarMergerPass : FuncPass<"sdy-constant-or-scalar-merger"> {
  let summary = "Merges the constant expressions that import split";
  let description = [{
    Before: after propagation; constant expressions are split
    (sdy-constant-or-scalar-splitter). After: no two that are equal, shardings
    included, are left in one block.

    ```mlir
    %0 = sdy.constant dense<1.0> : tensor<8xf32>
    %1 = sdy.constant dense<1.0> : tensor<8xf32>
    %2 = stablehlo.add %0, %1 : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = sdy.constant dense<1.0> : tensor<8xf32>
    %1 = stablehlo.add %0, %0 : tensor<8xf32>
    ```
    (which is a constant expression too).
  }];
}

def SinkDataFlowEdgesPass : FuncPass<"sdy-sink-data-flow-edges"> {
  let summary = "Gives the sharding of each data-flow edge to its owner";
  let description = [{
    Before: after propagation. After: no `sdy.data_flow_edge`; each owner has
    the sharding that its edge had.

    ```mlir
    %0 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
    %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x", ?} ]> : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.optimization_barrier {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, [{"x", ?} ]>]>} %arg0 : tensor<8xf32>
    ```
  }];
  let options = [
    Option<"sinkShardingOrigins", "sink-debug-sharding-origins", "bool",
           "false", "Leave `sdy.sharding_origins` of edges with their owners">,
    Option<"sinkPropagationEdges", "sink-debug-propagation-edge-sharding",
           "bool", "false",
           "Leave `sdy.propagation_edges` of edges with their owners">];
}

def ShardingConstraintToReshardPass
    : FuncPass<"sdy-sharding-constraint-to-reshard"> {
  let summary = "Turns each sharding constraint into a reshard";
  let description = [{
    Before: after propagation. After: no `sdy.sharding_constraint`. One in a
    region that is part of what an op computes (a reducer), on scalars, just
    goes.

    ```mlir
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"} ]> : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = sdy.reshard %arg0 <@mesh, [{"x"} ]> : tensor<8xf32>
    ```
  }];
}

def RemoveShardingGroupsPass : ModulePass<"sdy-remove-sharding-groups"> {
  let summary = "Removes sharding groups, whose members have their shardings now";
  let description = [{
    Before: after propagation, which gave the members one sharding. After: no
    `sdy.sharding_group`.

    ```mlir
    sdy.sharding_group %0 group_id=0 : tensor<8xf32>
    ```
    becomes nothing.
  }];
}

def RemovePropagationBarriersPass
    : FuncPass<"sdy-remove-propagation-barriers"> {
  let summary = "Removes propagation barriers, which have done their work";
  let description = [{
    Before: after propagation. After: no `sdy.propagation_barrier`. Where its
    two sides are sharded in different ways, the ops behind it reshard.

    ```mlir
    %0 = sdy.propagation_barrier %arg0 allowed_direction=NONE : tensor<8xf32>
    %1 = stablehlo.tanh %0 : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.tanh %arg0 : tensor<8xf32>
    ```
  }];
}

def TrimIdleAxesPass : FuncPass<"sdy-trim-idle-axes"> {
  let summary = "Trims what we chose inside the program where devices would idle";
  let description = [{
    Before: after propagation; dims are not closed yet.

    After: without its last axis (or a part of it) an open dim of a result of an
    op would be divided into larger shards. 10 rows over an axis of size 4 stay
    3, 3, 3 and 1; 2 rows are divided in two, by half of the axis. Closed dims
    are the user's and stay; a dim that he left open is ours.

    ```mlir
    %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?} ]>]>} : tensor<2xf32>
    ```
    becomes, with x of size 4,
    ```mlir
    %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2, ?} ]>]>} : tensor<2xf32>
    ```
  }];
}

def UpdateNonDivisibleInputOutputShardingsPass
    : ModulePass<"sdy-update-non-divisible-input-output-shardings"> {
  let summary = "Trims the boundary so that it divides";
  let description = [{
    After: the axes of the dims of function arguments and results divide them.
    The axes that stay are the major ones; the last of them may be a sub-axis.
    With `keep-given`, as in `compile`, what was given stays, whether it divides
    or not: closed dims, and the axes given in open ones. What goes into a
    manual computation and comes out of it is trimmed whoever gave it: there the
    shards inside and outside would differ.

    Before: after propagation, which keeps what was given at the boundary; dims
    are not closed yet.

    ```mlir
    func.func @f(%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?} ]>})
    ```
    becomes, with x of size 4,
    ```mlir
    func.func @f(%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?} ]>})
    ```
  }];
  let options = [Option<"keepGiven", "keep-given", "bool", "false",
                        "Leave what was given, trim what propagation chose">];
}

def RemoveSubAxesInInputOutputShardingsPass
    : ModulePass<"sdy-remove-sub-axes-in-input-output-shardings"> {
  let summary = "Leaves only full axes in open dims at the boundary";
  let description = [{
    After: no sub-axis is left in the open dims of function arguments and
    results, nor an axis minor to one; with `keep-given`, as in `compile`, none
    that propagation chose.

    Before: after propagation, which keeps what was given at the boundary; dims
    are not closed yet.

    ```mlir
    func.func @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y":(1)2, ?}, {"z":(1)2} ]>})
    ```
    becomes
    ```mlir
    func.func @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"z":(1)2} ]>})
    ```
  }];
  let options = [Option<"keepGiven", "keep-given", "bool", "false",
                        "Leave what was given, trim what propagation chose">];
}

def CloseShardingsPass : ModulePass<"sdy-close-shardings"> {
  let summary = "Closes every dim of every sharding";
  let description = [{
    Before: nothing asks any more for what was open, or given at the boundary.
    After: no open dim, no priority, no replicated axis, and no record of what
    was given; axes that shard dims and unreduced ones stay.

    ```mlir
    func.func @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}p1], replicated={"y"}>})
    ```
    becomes
    ```mlir
    func.func @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {} ]>})
    ```
  }];
}

def UnifyMeshesPass : ModulePass<"sdy-unify-meshes"> {
  let summary = "Writes all shardings on one mesh";
  let description = [{
    Several meshes over the same devices become the one of most shardings; axes
    of the others become sub-axes of its own where they nest in them, in
    whatever order the axes stand. Where only the order of the devices differs
    otherwise (`device_ids`), it is kept where it can be seen, at the boundary:
    an argument or result on the same axes in that order, and a reshard inside,
    which is a permute. Where axes do not nest (2 x 3 and 3 x 2), the value is
    replicated inside, with a warning: the reshard at the boundary is a gather.

    Before: closed shardings, meshes of equally many devices. After: only
    arguments and results are on another mesh than the program's, and those go
    through a reshard.

    ```mlir
    sdy.mesh @a = <["x"=2, "y"=4]>
    sdy.mesh @b = <["z"=4, "w"=2]>
    %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@b, [{"z"} ]>]>} : tensor<8xf32>
    ```
    becomes, in a program that is mostly on @a,
    ```mlir
    %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@a, [{"x", "y":(1)2} ]>]>} : tensor<8xf32>
    ```
  }];
}

def WholeBoundaryPass : FuncPass<"sdy-whole-boundary"> {
  let summary = "Arguments come whole and are sliced; results are gathered";
  let description = [{
    The second way to call a partitioned program: every device is given the
    whole argument and takes its shard by its index, without communication; with
    `results` every device returns the whole result. What is partial stays as it
    is. Public functions only.

    Before: closed shardings. After: with `arguments` (`results`) no argument
    (result) is sharded.

    ```mlir
    func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"} ]>}) -> tensor<8xf32> {
      %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} : tensor<8xf32>
    ```
    becomes
    ```mlir
    func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
      %0 = sdy.reshard %arg0 <@mesh, [{"x"} ]> : tensor<8xf32>
      %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} : tensor<8xf32>
    ```
  }];
  let options = [
    Option<"arguments", "arguments", "bool", "true", "Arguments come whole">,
    Option<"results", "results", "bool", "true", "Results are returned whole">,
  ];
}

def DropShardingRulesPass : FuncPass<"sdy-drop-sharding-rules"> {
  let summary = "Drops the `sdy.sharding_rule`s that passes wrote";
  let description = [{
    The user's stay, for the stages that follow: custom ones, and those that are
    not the op's own.

    Before: any program. After: no rule that a pass wrote is left; nothing else
    has changed.

    ```mlir
    %0 = stablehlo.tanh %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.tanh %arg0 : tensor<8xf32>
    ```
  }];
}

def VerifyUnreducedAxesPass : FuncPass<"sdy-verify-unreduced-axes"> {
  let summary = "Partial values neither appear nor vanish without a reason";
  let description = [{
    An error where a result is partial along an axis along which no operand is,
    nor is sharded where the op reduces; where an operand is partial and a
    result is not, or of another kind; where what a function takes or returns,
    or a value flows into, is partial along other axes; and where an
    `sdy.all_reduce` adds up what is whole. Changes nothing.

    Before: after propagation. After: of each op with a rule, partial results
    have a reason, and no partial operand is taken as a whole one.

    ```mlir
    %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{} ], unreduced={"x"}>]>} : tensor<8xf32>
    ```
    is an error if %a is not partial along x.
  }];
}

def SinkFuncDataFlowEdgesPass : FuncPass<"sdy-sink-func-data-flow-edges"> {
  let summary = "Gives the sharding of each function edge to its operand";
  let description = [{
    Before: after propagation between functions by edges. After: no
    `sdy.func_data_flow_edge`; calls and arguments have the shardings of their
    edges.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = sdy.func_data_flow_edge %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?} ]>]>} : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?} ]>]>} : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
}

def ExportNamedComputationsPass
    : ModulePass<"sdy-export-named-computations"> {
  let summary = "Turns named computations into functions and calls";
  let description = [{
    In-shardings, or those of the arguments' data-flow edges, become shardings
    of the function's arguments, out-shardings those of the call. The function
    remembers the computation's name in `sdy.original_func_name`.

    Before: after propagation. After: no `sdy.named_computation`; each became a
    function of its own and a call of it.

    ```mlir
    %0 = sdy.named_computation<"f">(%a) out_shardings=[<@mesh, [{"x"} ]>] (%b: tensor<8xf32>) {
      sdy.return %b : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} : (tensor<8xf32>) -> tensor<8xf32>
    func.func private @f(%b: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
      return %b : tensor<8xf32>
    }
    ```
  }];
}

def PropagateToFuncResultsPass : ModulePass<"sdy-propagate-to-func-results"> {
  let summary = "Results of private functions are sharded as what they return";
  let description = [{
    Before: after propagation; functions are kept. After: each tensor result of
    a private function with a body has the sharding of the value that is
    returned, or none if that has none.

    ```mlir
    func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"} ]>}) -> tensor<8xf32> {
      return %a : tensor<8xf32>
    }
    ```
    becomes
    ```mlir
    func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"} ]>})
        -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"} ]>}) {
      return %a : tensor<8xf32>
    }
    ```
  }];
}

def UnflattenCallGraphPass : ModulePass<"sdy-unflatten-call-graph"> {
  let summary = "Of functions that are copies and sharded alike, leaves one";
  let description = [{
    Copies are functions of one `sdy.original_func_name`; sharded alike, if
    their arguments and results are.

    Before: arguments and results of the copies are sharded
    (sdy-propagate-to-func-results). After: no `sdy.original_func_name`.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f_0(%0) : (tensor<8xf32>) -> tensor<8xf32>
    ```
    becomes, if @f and @f_0 are copies,
    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let options = [Option<
      "dedupFunctionsFully", "dedup-functions-fully", "bool", "false",
      "Leave one of all copies, the most called one, however they are sharded">];
}

def InsertFuncCallReshardsPass : ModulePass<"sdy-insert-func-call-reshards"> {
  let summary = "Reshards a call's results from what the callee makes of them";
  let description = [{
    Before: results of functions are sharded (sdy-propagate-to-func-results).
    After: each call's results are sharded as the callee's; where they were
    sharded otherwise, their uses see them as before. Operands are resharded
    where ops are.

    ```mlir
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"} ]>]>} : (tensor<8xf32>) -> tensor<8xf32>
    func.func private @f(%b: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"} ]>})
    ```
    becomes
    ```mlir
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = sdy.reshard %0 <@mesh, [{"y"} ]> : tensor<8xf32>
    ```
  }];
}

def RemovePropagationDebugInfoPass
    : ModulePass<"sdy-remove-propagation-debug-info"> {
  let summary = "Removes the records of where axes came from, and when";
  let description = [{
    Before: any program. After: no `sdy.sharding_origins` and no
    `sdy.propagation_edges`, of values, results or block arguments.

    ```mlir
    %0 = stablehlo.tanh %a {sdy.sharding_origins = [{x = "input: 0"} ]} : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.tanh %a : tensor<8xf32>
    ```
  }];
}

def InlineMeshesPass : ModulePass<"sdy-inline-meshes"> {
  let summary = "Puts each mesh into the shardings that name it";
  let description = [{
    Before: any program. After: no sharding names a mesh of the module; meshes
    that nothing names any more are gone.

    ```mlir
    sdy.mesh @mesh = <["x"=2]>
    sdy.sharding_constraint %0 <@mesh, [{"x"} ]>
    ```
    becomes
    ```mlir
    sdy.sharding_constraint %0 <mesh<["x"=2]>, [{"x"} ]>
    ```
  }];
}

def DropShardingAndMeshPass : ModulePass<"sdy-drop-sharding-and-mesh"> {
  let summary = "Drops every `sdy.sharding`, and the meshes";
  let description = [{
    Before: no stage follows that reads shardings. After: no `sdy.sharding` on a
    value that has it as an attribute; a mesh that an operation of the dialect
    still names stays.

    ```mlir
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"} ]>})
    ```
    becomes
    ```mlir
    func.func @main(%arg0: tensor<4xf32>)
    ```
  }];
}

def ShareComputationsPass : ModulePass<"sdy-share-computations"> {
  let summary = "Named computations that are alike become one function";
  let description = [{
    Of those with one name, one body and the same shardings of arguments and
    results one private function is made, which they call; two that are sharded
    in different ways are two functions. A computation that has no like, or that
    is in a manual computation, is put in its place: a boundary would only force
    shardings there.

    Precondition: shardings are closed. Postcondition: no
    `sdy.named_computation`; the arguments and results of the new functions have
    shardings, and each call the callee's.

    ```mlir
    %0 = sdy.named_computation<"f">(%a) (%b: tensor<8xf32>) { .. }
    %1 = sdy.named_computation<"f">(%0) (%b: tensor<8xf32>) { .. }
    ```
    becomes
    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect",
                           "::mlir::func::FuncDialect"];
}

def SaveModulePass : ModulePass<"sdy-save-module"> {
  let summary = "Writes the module to a file";
  let description = [{
    As `<dump-directory>/<name>.mlir`, with locations; the directory is made. No
    directory: nothing is written.

    Before and after: any program, unchanged.
  }];
  let options = [
    Option<"dumpDirectory", "dump-directory", "std::string", "\"\"",
           "Where the file goes">,
    Option<"fileName", "name", "std::string", "\"module\"",
           "The file's name, without .mlir">];
}

#endif // SHARDONNAY_TRANSFORMS_EXPORT_PASSES_TD
