//===- Passes.td - deciding every sharding -----------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PROPAGATE_PASSES_TD
#define SHARDONNAY_TRANSFORMS_PROPAGATE_PASSES_TD

include "mlir/Pass/PassBase.td"
include "shardonnay/transforms/propagate/PropagatePass.td"

def PopulateOpShardingRulesPass
    : Pass<"sdy-populate-op-sharding-rules", "::mlir::func::FuncOp"> {
  let summary = "Writes each op's sharding rule as an attribute, to be read";
  let description = [{
    An op that has the attribute already keeps it: what a user gave replaces
    what the op says of itself.

    Precondition: any program. Postcondition: each op with a rule, with
    operands, and with tensors only, has `sdy.sharding_rule`; no other
    attribute has changed.

    ```mlir
    %0 = stablehlo.dot %arg0, %arg1
        : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding_rule =
          #sdy.op_sharding_rule<([i, k], [k, j])->([i, j])
                                {i=8, j=16, k=32} reduction={k}>}
        : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let options = [Option<
      "conservativePropagation", "conservative-propagation", "bool", "false",
      "Block factors that need neighbours' data or are concatenated">];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def SplitMergedDimsPass
    : Pass<"sdy-split-merged-dims", "::mlir::ModuleOp"> {
  let summary = "Computes on dims as they were before a reshape merged them";
  let description = [{
    Of a merged dim a sharding has the axes of its first part only, so what is
    sharded in another one (the tokens of a sequence, flattened with the batch)
    is gathered. Element-wise ops, products, reductions, gathers and others
    (DimSplitOpInterface) are as well computed on the dims themselves, until a
    reshape splits the dim again or it is reduced.

    A propagation says which reshapes lose axes; the shardings are not written.
    Ops that hang together are only rewritten where what is merged for ops
    behind them, and what is split for them, has fewer bytes than what is merged
    before. An op with a sharding of its own is not.

    Before: the module is imported. After: likewise; other ops and types only
    where axes were lost.

    ```mlir
    // %arg0 : [{}, {"x"}, {} ]
    %0 = stablehlo.reshape %arg0 : (tensor<4x8x16xf32>) -> tensor<32x16xf32>
    %1 = stablehlo.dot %0, %arg1
        : (tensor<32x16xf32>, tensor<16x64xf32>) -> tensor<32x64xf32>
    %2 = stablehlo.reshape %1 : (tensor<32x64xf32>) -> tensor<4x8x64xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0]
        : (tensor<4x8x16xf32>, tensor<16x64xf32>) -> tensor<4x8x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def BasicPropagatePass : PropagatePass<"sdy-basic-propagate"> {
  let summary = "Propagates axes that nothing speaks against";
  let description = [{
    Before: the module is imported (one symbol a mesh, no axes of size one).
    After: shardings have grown along the factors that tensors share, up to the
    first conflict. A value without the attribute is replicated.

    ```mlir
    func.func @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {} ]>}) {
      %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
    ```
    becomes
    ```mlir
    func.func @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {} ]>}) {
      %0 = stablehlo.tanh %arg0 {sdy.sharding =
          #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?} ]>]>} : tensor<8x8xf32>
    ```
  }];
  let options = shared;
}

def AggressivePropagatePass : PropagatePass<"sdy-aggressive-propagate"> {
  let summary = "Propagates axes and resolves conflicts tensor by tensor";
  let description = [{
    As `sdy-basic-propagate`, but a conflict in one tensor keeps no other from
    taking axes, and where two factors want the same axis the one with the
    larger source has it.

    Before: as of `sdy-basic-propagate`. After: shardings have grown until
    no op has anything to add; no axis that was given is gone.

    ```mlir
    // %arg0 : [{"x"}, {} ], %arg1 : [{}, {"x"} ]
    %0 = stablehlo.dot %arg0, %arg1
    ```
    becomes
    ```mlir
    %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?} ]>]>}
    ```
  }];
  let options = shared # [strategyOption];
}

def OpPriorityPropagatePass : PropagatePass<"sdy-op-priority-propagate"> {
  let summary = "Propagates through element-wise ops before dots";
  let description = [{
    As `sdy-aggressive-propagate` in five rounds, each of which allows more:
    first pass-through ops whose operands have no other use, then all of them,
    then all ops along pass-through factors, then all factors, and last
    broadcasts forward too.

    Before and after: as of `sdy-aggressive-propagate`.

    ```mlir
    // %arg0 : [{"x"}, {} ], %arg1 : [{}, {} ], %arg2 : [{}, {"x"} ]
    %0 = stablehlo.dot %arg0, %arg1
    %1 = stablehlo.add %0, %arg2
    ```
    becomes
    ```mlir
    %0 = stablehlo.dot %arg0, %arg1  // [{?}, {"x", ?} ], from %arg2
    %1 = stablehlo.add %0, %arg2     // [{?}, {"x", ?} ]
    ```
  }];
  let options = shared # [strategyOption, opPriorityOption];
}

def UserPriorityPropagatePass : PropagatePass<"sdy-user-priority-propagate"> {
  let summary = "Propagates dims in the order of their priorities";
  let description = [{
    As `sdy-op-priority-propagate`, in one round for each priority: round p
    sees only the dims of priority p or before. This is the whole of propagation.

    With `backward-forward`, the schedule of the Mesh dialect's design instead
    of levels: each op is visited twice, the last op of the program first, where
    operands take what its results have, then the first op first. What the
    program computes it for decides, not what it is given.

    Before and after: as of `sdy-aggressive-propagate`.

    ```mlir
    // %arg0 : [{"x"}p1, {} ], %arg1 : [{}, {"x"} ]
    %0 = stablehlo.add %arg0, %arg1
    ```
    becomes
    ```mlir
    %0 = stablehlo.add %arg0, %arg1  // [{?}, {"x", ?} ]
    ```
  }];
  let options = shared # [strategyOption, opPriorityOption, scheduleOption];
}

#endif // SHARDONNAY_TRANSFORMS_PROPAGATE_PASSES_TD
