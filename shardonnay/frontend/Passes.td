//===- Passes.td - other spellings of shardings ------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first three come before the import stage, in this order; programs without
// such spellings stay as they are.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_PASSES_TD
#define SHARDONNAY_FRONTEND_PASSES_TD

include "mlir/Pass/PassBase.td"

class FrontendPass<string name> : Pass<name, "mlir::ModuleOp"> {
  let dependentDialects = ["mlir::sdy::SdyDialect",
                           "mlir::stablehlo::StablehloDialect"];
}

def ImportFrontendAttributesPass
    : FrontendPass<"sdy-import-frontend-attributes"> {
  let summary = "`sdy` from frontend attributes and xla.sdy custom calls";
  let description = [{
    For programs whose `sdy` attributes and ops were written as HLO can carry
    them: frontend attributes `xla.sdy.*` hold attributes as text, and custom
    calls stand for ops. The HLO shardings that such a program has as well say
    less and go, if the module lists its meshes in `xla.sdy.meshes`.

    | custom call | becomes |
    |---|---|
    | `Sharding` with `xla.sdy.sharding` | `sdy.sharding_constraint` |
    | `xla.sdy.FuncResultSharding` | the sharding of the function's result |
    | `xla.sdy.ShardingGroup` | `sdy.sharding_group` |
    | `xla.sdy.PropagationBarrier` | `sdy.propagation_barrier` |
    | from `xla.sdy.GlobalToLocalShape` to `xla.sdy.LocalToGlobalShape` | `sdy.manual_computation` |

    The shardings and axes of a manual computation stand at its borders, or, in
    older programs, at the call of its body between them.

    Precondition: none. Postcondition: no `xla.sdy` name is left.

    ```mlir
    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.frontend_attributes =
      {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22} ]>]>"}}
      : (tensor<8xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"} ]> : tensor<8xf32>
    ```
  }];
}

def ImportGspmdShardingsPass : FrontendPass<"sdy-import-gspmd-shardings"> {
  let summary = "`sdy` from HLO shardings and GSPMD's custom calls";
  let description = [{
    HLO shardings, the text of `mhlo.sharding`, have no mesh: one is found for
    all of them (MeshFactoring.h), with axes "axis_0", "axis_1", .. On arguments,
    results and ops they become closed shardings. Custom calls `Sharding` become
    constraints, whose dims listed in `unspecified_dims` are open, and sharding
    groups where the sharding says `shard_as` or `shard_like` (a group asks for
    more than the latter does). What lies between `SPMDFullToShardShape` and
    `SPMDShardToFullShape` becomes a manual computation, the calls of `Sharding`
    before them its in- and out-shardings. Inside, manual axes and shardings that
    say nothing but `manual` go.

    Precondition: after sdy-import-frontend-attributes. Postcondition: no
    `mhlo.sharding` is left.

    ```mlir
    func.func @main(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,2]<=[8]}"})
    ```
    becomes
    ```mlir
    sdy.mesh @mesh = <["axis_0"=4, "axis_1"=2]>
    func.func @main(%a: tensor<8x8xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {"axis_1"} ]>})
    ```
  }];
}

def ExpandCompositesPass : Pass<"sdy-expand-composites", "mlir::ModuleOp"> {
  let summary = "Composites become calls of their decompositions";
  let description = [{
    But those to which the user gave a sharding rule and which are element-wise:
    they stay, so that the engine still finds their name, and propagate by that
    rule. A rule of another one is not used, with a warning.

    ```mlir
    %0 = stablehlo.composite "my.op" %a {decomposition = @f}
      : (tensor<8xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def ExportGspmdShardingsPass : FrontendPass<"sdy-export-gspmd-shardings"> {
  let summary = "HLO shardings and GSPMD's custom calls from `sdy`";
  let description = [{
    The way back: every sharding becomes an HLO sharding, constraints, reshards
    and collectives become custom calls `Sharding`, manual computations their
    bodies between `SPMDFullToShardShape` and `SPMDShardToFullShape`, groups
    `shard_as`; data-flow edges, propagation barriers and meshes go. Priorities,
    replicated axes, and open dims other than a constraint's have no HLO form and
    are lost. An error: axes unreduced by another kind than sum.

    Precondition: every sharding names its mesh. Postcondition: no `sdy` name is
    left.

    ```mlir
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {?} ]> : tensor<8x8xf32>
    ```
    becomes, for a mesh x=4, y=2,
    ```mlir
    %0 = stablehlo.custom_call @Sharding(%a) {
      backend_config = "unspecified_dims=[1]",
      mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"}
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
    ```
  }];
}

#endif // SHARDONNAY_FRONTEND_PASSES_TD
