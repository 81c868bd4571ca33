//===- Ops.td - meshes, constraints, computations ----------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_DIALECT_SDY_OPS_TD
#define SHARDONNAY_DIALECT_SDY_OPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "shardonnay/dialect/sdy/Attributes.td"
include "shardonnay/interfaces/DataFlowEdge.td"

class Sdy_Op<string mnemonic, list<Trait> traits = []>
    : Op<Sdy_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

// Memory, vectors and tuples are not laid out by shardings.
def Sdy_Constrainable
    : Type<CPred<"::llvm::isa<::mlir::RankedTensorType>($_self) || "
                 "!::llvm::isa<::mlir::ShapedType, ::mlir::TupleType>($_self)">,
           "ranked tensor, or value without a shape such as a token">;

def Sdy_MeshOp : Sdy_Op<"mesh", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "a named mesh";
  let description = [{
    ```mlir
    sdy.mesh @mesh = <["x"=2, "y"=4]>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

// Unknown effects, on purpose: a constraint without uses constrains its
// operand, so it is never dead.
def Sdy_ShardingConstraintOp
    : Sdy_Op<"sharding_constraint", [SameOperandsAndResultType]> {
  let summary = "the uses of the result have this sharding";
  let description = [{
    Without uses it constrains the operand itself; so it does where the operand
    has no other use. Open dims may be sharded further. A value without a shape,
    such as a token, is the same on every device: its sharding has no dims and
    axes (C18), and asks for nothing.

    ```mlir
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {?} ]> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins Sdy_Constrainable:$input, Sdy_TensorSharding:$sharding);
  let results = (outs Sdy_Constrainable:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sdy_ReshardOp : Sdy_Op<"reshard", [Pure, SameOperandsAndResultType]> {
  let summary = "the same tensor in another sharding";
  let description = [{
    It asks for the other sharding and does not say how to get there. Its life
    is between two stages: `sdy-sharding-constraint-to-reshard` makes one of
    each constraint, `sdy-insert-explicit-reshards` one wherever an operand or a
    result disagrees with how its op is sharded, and
    `sdy-reshard-to-collectives` writes each as the cheapest chain of
    collectives. A reshard may say why it is there (`sdy.cause`), which its
    collectives inherit. Unlike a constraint it takes no part in propagation. A
    reshard of a value without a shape, such as a token, sends nothing.

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {} ]> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins Sdy_Constrainable:$input, Sdy_TensorSharding:$sharding);
  let results = (outs Sdy_Constrainable:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

// Unknown effects, on purpose: it has no result and must not be erased.
def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "all members of a group have one sharding";
  let description = [{
    Each op makes a value a member of a group. `sdy-sharding-group-import`
    merges groups that share a value, propagation keeps the members' shardings
    equal, and `sdy-remove-sharding-groups` takes the ops out.

    ```mlir
    sdy.sharding_group %0 group_id=0 : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$group_id);
  let assemblyFormat = [{
    $input `group_id` `` `=` `` $group_id attr-dict `:` type($input)
  }];
}

def Sdy_PropagationBarrierOp
    : Sdy_Op<"propagation_barrier", [Pure, SameOperandsAndResultType]> {
  let summary = "propagation passes in the given direction only";
  let description = [{
    FORWARD lets shardings pass from operand to result, BACKWARD from result to
    operand, NONE neither way; both ways would be no barrier (C35). It has no
    meaning behind propagation: `sdy-remove-propagation-barriers` takes it out,
    and where its two sides differ the ops behind it reshard.

    ```mlir
    %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input,
                       Sdy_PropagationDirection:$allowed_direction);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `allowed_direction` `` `=` `` $allowed_direction attr-dict `:`
    type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

class Sdy_ComputationOp<string mnemonic, list<string> dataFlowMethods>
    : Sdy_Op<mnemonic, [IsolatedFromAbove, RecursiveMemoryEffects,
                        SingleBlockImplicitTerminator<"ReturnOp">,
                        DeclareOpInterfaceMethods<ShardableDataFlowOpInterface,
                            !listconcat(["getEdgeOwners", "getEdgeSources",
                                         "getEdgeTargets"],
                                        dataFlowMethods)>]> {
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  // What the body's operations ask of the computation is verified before them.
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Sdy_ManualComputationOp : Sdy_ComputationOp<"manual_computation",
                                              ["getManualBoundary"]> {
  let summary = "a computation that is local along some mesh axes";
  let description = [{
    The body sees what one device holds along `manual_axes` (its types are local
    along these), and whole tensors along all other axes. Collectives along
    manual axes are the user's, written in the body; along the others the body
    is sharded like the rest of the program.

    * The manual axes exist in the mesh of the shardings (C27), each is named
      once (C28), and none is manual around the computation already (C29).
    * All in- and out-shardings are on one mesh (C30). In each dim of them the
      manual axes come before the free ones (C31), and they divide its size
      (C32), so no local shard has padding.
    * The types in the body are the global types, divided by the manual axes
      (C33), for as many arguments as there are operands and as many returned
      values as there are results (C26).

    ```mlir
    %1 = sdy.manual_computation(%0)
        in_shardings=[<@mesh, [{"x"}, {} ]>]
        out_shardings=[<@mesh, [{"x"}, {} ]>]
        manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
      sdy.return %arg1 : tensor<4x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$tensors,
                       Sdy_TensorShardingPerValue:$in_shardings,
                       Sdy_TensorShardingPerValue:$out_shardings,
                       Sdy_ManualAxes:$manual_axes);
  let assemblyFormat = [{
    `` `(` $tensors `)`
    `in_shardings` `` `=` `` custom<ShardingList>($in_shardings)
    `out_shardings` `` `=` `` custom<ShardingList>($out_shardings)
    `manual_axes` `` `=` `` $manual_axes
    custom<ComputationBody>($body) attr-dict
    `:` functional-type($tensors, $results)
  }];
  let hasCanonicalizer = 1;
}

def Sdy_NamedComputationOp : Sdy_ComputationOp<"named_computation", []> {
  let summary = "a function's body, with its name, in place of a call";
  let description = [{
    Where functions are kept, propagation sees the call's operands and results
    and the body at once: `sdy-import-func-calls` puts it in the place of a
    call, `sdy-export-named-computations` makes a function and a call of it
    again. The body has the types of operands and results (C34).

    ```mlir
    %1 = sdy.named_computation<"f">(%0) (%arg1: tensor<8xf32>) {
      sdy.return %arg1 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$operands,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$in_shardings,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$out_shardings);
  let assemblyFormat = [{
    `` `<` $name `>` `` `(` $operands `)`
    (`in_shardings` `` `=` `` custom<ShardingList>($in_shardings)^)?
    (`out_shardings` `` `=` `` custom<ShardingList>($out_shardings)^)?
    custom<ComputationBody>($body) attr-dict
    `:` functional-type($operands, $results)
  }];
}

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, Terminator,
    ParentOneOf<["ManualComputationOp", "NamedComputationOp"]>]> {
  let summary = "ends the body of a computation";
  let arguments = (ins Variadic<AnyType>:$results);
  let builders = [OpBuilder<(ins), [{
    build($_builder, $_state, ::mlir::ValueRange());
  }]>];
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

//===----------------------------------------------------------------------===//
// What import puts in
//===----------------------------------------------------------------------===//

// Not ConstantLike, on purpose: nothing may fold or merge what import split.
def Sdy_ConstantOp
    : Sdy_Op<"constant", [Pure, AllTypesMatch<["value", "output"]>]> {
  let summary = "a constant that stays as it is during propagation";
  let description = [{
    Import copies constants for each use, so that no sharding flows from one use
    to another. This op is no `ConstantLike`, so that nothing merges the copies
    again before `sdy-constant-or-scalar-merger` does.

    ```mlir
    %0 = sdy.constant dense<1.0> : tensor<8xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  let assemblyFormat = "attr-dict $value";
}

// Unknown effects, on purpose: without uses it still holds a sharding.
def Sdy_DataFlowEdgeOp
    : Sdy_Op<"data_flow_edge", [SameOperandsAndResultType]> {
  let summary = "one value for a class of values that must be sharded alike";
  let description = [{
    Stands between the owner of the class (a result or block argument of an
    operation that passes values on) and the owner's uses, and holds the
    sharding of the class during propagation.

    Why an op: what a loop starts from, carries and returns are copies of one
    value and must be sharded alike, but a block argument has no attribute of
    its own for a sharding, and neither a constraint nor a conflict can point at
    a class. The edge is one value that stands for all of it. It takes the
    owner's sharding and is the only use of its operand (C37, C38);
    `sdy-add-data-flow-edges` puts it in, `sdy-sink-data-flow-edges` gives the
    sharding back to the owner and takes it out.

    ```mlir
    %1 = sdy.data_flow_edge %0#0 sharding=<@mesh, [{?} ]> : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input,
                       OptionalAttr<Sdy_TensorSharding>:$sharding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input (`sharding` `` `=` `` $sharding^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

// Unknown effects, on purpose: without uses it still stands for its operand.
def Sdy_FuncDataFlowEdgeOp
    : Sdy_Op<"func_data_flow_edge", [SameOperandsAndResultType]> {
  let summary = "one value for an argument in all calls, or for a call's result";
  let description = [{
    On a function's argument: between what every call passes and the argument's
    uses. On a call's result: between what the function returns and the
    result's uses. The sharding of the class is the one of the operand.

    ```mlir
    %1 = sdy.func_data_flow_edge %arg0 : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // SHARDONNAY_DIALECT_SDY_OPS_TD
