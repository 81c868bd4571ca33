//===- Passes.td - disagreements become explicit reshards --*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the order of the pipeline:
//   sdy-insert-explicit-reshards, sdy-defer-reductions, sdy-explain-reshards
// sdy-resolve-permutation-factors is for those who chain passes by hand.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_RESHARD_PASSES_TD
#define SHARDONNAY_TRANSFORMS_RESHARD_PASSES_TD

include "mlir/Pass/PassBase.td"
include "shardonnay/analysis/DeviceModelOption.td"

def InsertExplicitReshardsPass
    : Pass<"sdy-insert-explicit-reshards", "mlir::func::FuncOp"> {
  let summary = "Makes every op's operands and results agree on its factors";
  let description = [{
    Chooses for every op with a sharding rule the axes that shard each of its
    factors (FactorStrategy.h). Operands that are sharded otherwise are
    resharded; a result is sharded as the choice says, partial (`unreduced`)
    along the axes of the factors that the op reduces over, and resharded to the
    sharding that it had. Constants are computed again in the sharding that a
    use needs.

    What an op can't compute sharded (it has no rule, or the factor is a window
    or needs replication) is gathered, with a warning that says how much; with
    `no-implicit-replication` that is an error. An op that needs a dim whole (a
    sort, a scan) may be gathered along its other dims where that is cheaper than
    to compute it sharded, and one that only moves elements (a slice, a pad, a
    concatenate, a lookup) along any; `no-gather-by-price` keeps both as they are
    sharded.

    Without `enable-full-version` only what a partitioner of another kind needs
    said: calls take and return what their callee does, what is `unreduced` at
    one end of a value and not at the other is reduced, or made, by collectives
    (PartialSumReducer.h), operands of an op that joins tensors along a dim are
    sharded alike, and a contraction's result is made as its operands are
    sharded where that moves no operand.

    Precondition: after export; shapes are static.
    Postcondition: operands and results of every op agree on its factors; the
    operands of a data-flow op have their owner's sharding, those of `return`
    the function result's. Where they did not there is an `sdy.reshard`.

    ```mlir
    %0 = stablehlo.dot %x, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {} ]>]>}
    ```
    with `%x` sharded on dim 1 and `%w` on dim 0 by "a" becomes
    ```mlir
    %0 = stablehlo.dot %x, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {} ], unreduced={"a"}>]>}
    %1 = sdy.reshard %0 <@mesh, [{}, {} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [
    Option<"enableFullVersion", "enable-full-version", "bool", "false",
           "All ops, so that the partition stage can follow">,
    Option<"avoidReshardsOnCalls", "avoid-reshards-on-calls", "bool", "false",
           "Leave the operands of calls as they are">,
    Option<"noImplicitReplication", "no-implicit-replication", "bool", "false",
           "A gather because an op can't be computed sharded is an error; "
           "none is taken by price">,
    Option<"noGatherByPrice", "no-gather-by-price", "bool", "false",
           "An op that needs a dim whole stays sharded along the others, and one "
           "that only moves elements along all, even where gathering is "
           "cheaper">,
    DeviceModelOption,
    Option<"searchMode", "search-mode", "std::string", "\"greedy\"",
           "graph: the strategies of ops near a disagreement are chosen "
           "together; greedy: each op alone">,
    Option<"recordCost", "record-cost", "bool", "false",
           "Leave on the function, as sdy.plan_cost, the cost of what was chosen "
           "together, what it would be op by op, and a lower bound">,
    Option<"keepPropagated", "keep-propagated", "bool", "false",
           "No value between ops is sharded otherwise than propagation decided "
           "to save communication or memory">,
    Option<"pricesMemory", "prices-memory", "bool", "false",
           "What a device holds of an op's results has the price that the op "
           "says (sdy.memory_price, in the time to send a byte), and so has what "
           "a loop holds to reshard it once and not in each run">,
  ];
}

def ResolvePermutationFactorsPass
    : Pass<"sdy-resolve-permutation-factors", "mlir::ModuleOp"> {
  let summary = "Windows by halos, or whole";
  let description = [{
    With halos, the default, it changes nothing: an op keeps sharded windows
    (convolution, pad, slice, reverse, ...), and `sdy-partition-to-local` has
    each device fetch what its window needs of its neighbours, over any number
    of hops, in all dims and for every size. There is nothing that it can't
    resolve, so nothing is replicated here.

    With `enable-halo-exchange=false` every op with a sharded windowed factor
    whose windows cross the boundaries of the shards is computed with it whole: its
    operands are gathered along it, and its results sliced.

    Before and after: the postcondition of `sdy-insert-explicit-reshards`.

    ```mlir
    %0 = stablehlo.reverse %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} : tensor<8xf32>
    ```
    without halos becomes
    ```mlir
    %0 = sdy.reshard %arg0 <@mesh, [{} ]> : tensor<8xf32>
    %1 = stablehlo.reverse %0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{} ]>]>} : tensor<8xf32>
    %2 = sdy.reshard %1 <@mesh, [{"x"} ]> : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [
    Option<"enableHaloExchange", "enable-halo-exchange", "bool", "true",
           "Neighbours send what a device's window needs">,
    Option<"replicaCount", "replica-count", "int64_t", "1",
           "Has no influence here">,
    Option<"partitionCount", "partition-count", "int64_t", "1",
           "Has no influence here">,
  ];
}

def DeferReductionsPass : Pass<"sdy-defer-reductions", "mlir::func::FuncOp"> {
  let summary = "Reduces partial values as late as is not dearer";
  let description = [{
    An op that is linear in operands that are reduced for it alone is computed
    on the partial values, and its result reduced: always where several
    reductions become one (the sum of two gradients), and where one gets no
    larger and may meet others later (a transpose of a gradient). Where one gets
    larger (a pad), it is deferred if one of the next four ops that pass parts on
    makes it cheaper (a sum over slots). No step makes a device hold more than
    the op reads or would make on its shards: a row's maximum is reduced before
    it is repeated. A whole value that is added to a sum is added by one device
    alone (`sdy.replicated_to_unreduced`), where the result meets another sum
    over the same axes, and masking costs less than reducing twice. Maxima and
    minima pass through what keeps the order of numbers, and need no such owner.

    Before and after: the postcondition of sdy-insert-explicit-reshards.

    ```mlir
    %2 = sdy.reshard %0 <@mesh, [{} ]>   // %0 and %1: unreduced={"a"}
    %3 = sdy.reshard %1 <@mesh, [{} ]>
    %4 = stablehlo.add %2, %3
    ```
    becomes
    ```mlir
    %2 = stablehlo.add %0, %1           // unreduced={"a"}
    %3 = sdy.reshard %2 <@mesh, [{} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def ExplainReshardsPass : Pass<"sdy-explain-reshards", "mlir::func::FuncOp"> {
  let summary = "Says why each reshard is there";
  let description = [{
    Every reshard gets a sentence, its `sdy.cause`: the op whose parts it sums
    and the factor that is sharded there, or the use that needs the value in
    another sharding; then what that op costs as it is sharded, and what its
    next best strategy would. Collectives inherit it, and the report prints it.

    Before and after: the postcondition of sdy-insert-explicit-reshards.

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{} ]>   // %0: a dot, unreduced={"m"}
    ```
    becomes
    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{} ]> {sdy.cause = "reduces the sum along
        {"m"} that 'stablehlo.dot' computes in parts (it reduces over factor j);
        'stablehlo.dot' with j by {"m"} costs 6.2 us, the next best, ..."}
    ```
  }];
  let options = [DeviceModelOption];
}

#endif // SHARDONNAY_TRANSFORMS_RESHARD_PASSES_TD
