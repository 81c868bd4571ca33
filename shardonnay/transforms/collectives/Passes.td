//===- Passes.td - reshards become collectives -------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_COLLECTIVES_PASSES_TD
#define SHARDONNAY_TRANSFORMS_COLLECTIVES_PASSES_TD

include "mlir/Pass/PassBase.td"
include "shardonnay/analysis/DeviceModelOption.td"

def ReshardToCollectivesPass
    : Pass<"sdy-reshard-to-collectives", "mlir::func::FuncOp"> {
  let summary = "Writes every reshard as the cheapest chain of collectives";
  let description = [{
    The chain is planned by an exact search (plan/ReshardPlan.h) over slices,
    all-to-alls, gathers and reductions; a reshard that changes nothing goes,
    unless `keep-redundant-reshards`. Types stay global.

    Where the search was given up for the number of layouts, and the plan costs
    more than what devices have to receive anyway, its `sdy.cause` says so, with
    both prices. What becomes partial, of shards or of the whole, moves nothing.

    Between meshes that differ in the order of the devices the last of the chain
    is a collective_permute; between others the value becomes whole.

    Precondition: after the reshard stage. Postcondition: no `sdy.reshard`, its
    result is the last collective's, with the sharding it had; but one that takes
    its shard of what is whole on another mesh, or computed on one device.

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{}, {"x"} ]>
    ```
    of a `%0` on `[{"x", "y"}, {} ]` becomes
    ```mlir
    %1 = sdy.all_gather [{"y"}, {} ] %0 out_sharding=<@mesh, [{"x"}, {} ]>
    %2 = sdy.all_to_all [{"x"}: 0->1] %1 out_sharding=<@mesh, [{}, {"x"} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [
    DeviceModelOption,
    Option<"keepRedundantReshards", "keep-redundant-reshards", "bool", "false",
           "A reshard to the sharding that the value has stays">,
  ];
}

def FoldAllReducesPass : Pass<"sdy-fold-all-reduces", "mlir::func::FuncOp"> {
  let summary = "Makes one collective of a reduction and what stands next to it";
  let description = [{
    Two collectives that feed one another, one of them an `all_reduce` or a
    `reduce_scatter`, become what the planner finds between the same ends, if
    that is cheaper, or as cheap and one: two all_reduces one, an all_reduce
    that is sliced a reduce_scatter, a reduce_scatter that is gathered an
    all_reduce. What is reduced and put into parts again, as a loop's sum starts
    with the first gradient, stays in parts.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {} ]>
    %2 = sdy.all_slice [{"x"}, {} ] %1 out_sharding=<@mesh, [{"x"}, {} ]>
    ```
    becomes
    ```mlir
    %2 = sdy.reduce_scatter [{"x"}, {} ] %0 out_sharding=<@mesh, [{"x"}, {} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def CancelGathersAndSlicesPass : Pass<"sdy-cancel-gathers-and-slices", "mlir::func::FuncOp"> {
  let summary = "Gathers only what is not sliced off again";
  let description = [{
    A gather and a slice of its result become what the planner finds between
    the same ends. Where others use the gathered value, the slice alone is
    replaced, if it is then a slice of what was gathered, or nothing.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %1 = sdy.all_gather [{"x"}, {} ] %0 out_sharding=<@mesh, [{}, {} ]>
    %2 = sdy.all_slice [{}, {"x"} ] %1 out_sharding=<@mesh, [{}, {"x"} ]>
    ```
    becomes
    ```mlir
    %2 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def MergeCollectivesPass : Pass<"sdy-merge-collectives", "mlir::func::FuncOp"> {
  let summary = "Makes one collective over an axis tuple of two over its axes";
  let description = [{
    Two collectives that feed one another, other than a reduction or a gather
    and its slice (those have passes of their own), become what the planner
    finds between the same ends. One over both axes sends as much in fewer
    steps.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %1 = sdy.all_gather [{"y"}, {} ] %0 out_sharding=<@mesh, [{"x"}, {} ]>
    %2 = sdy.all_gather [{"x"}, {} ] %1 out_sharding=<@mesh, [{}, {} ]>
    ```
    becomes
    ```mlir
    %2 = sdy.all_gather [{"x", "y"}, {} ] %0 out_sharding=<@mesh, [{}, {} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def ShareCollectivesPass : Pass<"sdy-share-collectives", "mlir::func::FuncOp"> {
  let summary = "Makes a value in another sharding from one that is there already";
  let description = [{
    Of the collectives that start from one value, a later one goes on from what
    an earlier one made, where that is cheaper: equal ones become one, and a
    gather takes up where another one, of fewer axes, ended.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %1 = sdy.all_gather [{"y"}, {} ] %0 out_sharding=<@mesh, [{"x"}, {} ]>
    %2 = sdy.all_gather [{"x", "y"}, {} ] %0 out_sharding=<@mesh, [{}, {} ]>
    ```
    becomes
    ```mlir
    %1 = sdy.all_gather [{"y"}, {} ] %0 out_sharding=<@mesh, [{"x"}, {} ]>
    %2 = sdy.all_gather [{"x"}, {} ] %1 out_sharding=<@mesh, [{}, {} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def ReassociateReductionsPass : Pass<"sdy-reassociate-reductions", "mlir::func::FuncOp"> {
  let summary = "Reduces the result of an op in the place of several operands";
  let description = [{
    An op that says it is linear (`isLinear`) in operands that are all reduced
    for it alone, by all_reduces or reduce_scatters, is computed on their parts,
    where settling the result is cheaper.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %2 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{} ]>
    %3 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{} ]>
    %4 = stablehlo.add %2, %3
    ```
    becomes
    ```mlir
    %2 = stablehlo.add %0, %1           // unreduced={"x"}
    %4 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def MoveGathersPass : Pass<"sdy-move-gathers", "mlir::func::FuncOp"> {
  let summary = "Gathers on that side of an op where there is less to gather";
  let description = [{
    Down, behind an op that can be computed on the shards: where the gather of
    its result is cheaper than those of its operands, or as cheap, as the op
    then does less. Up, before an op that repeats or widens what it is given,
    where that is cheaper, counting the memory that the op then touches; an
    all_to_all and a permute too, and past up to three ops of one operand that
    stand between. Or where another collective stands before these ops, and one
    does for both: a sum that is scattered, reshaped and gathered is all-reduced.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %1 = sdy.all_gather [{"x"}, {} ] %0 out_sharding=<@mesh, [{}, {} ]>
    %2 = stablehlo.convert %1 : (tensor<8x8xf32>) -> tensor<8x8xbf16>
    ```
    becomes
    ```mlir
    %1 = stablehlo.convert %0 : (tensor<8x8xf32>) -> tensor<8x8xbf16>
    %2 = sdy.all_gather [{"x"}, {} ] %1 out_sharding=<@mesh, [{}, {} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def MoveSlicesUpPass : Pass<"sdy-move-slices-up", "mlir::func::FuncOp"> {
  let summary = "Slices what an op is given, not what it returns";
  let description = [{
    Where no operand has to be communicated for it. A slice of a constant is a
    constant.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %1 = stablehlo.tanh %0
    %2 = sdy.all_slice [{"x"}, {} ] %1 out_sharding=<@mesh, [{"x"}, {} ]>
    ```
    becomes
    ```mlir
    %1 = sdy.all_slice [{"x"}, {} ] %0 out_sharding=<@mesh, [{"x"}, {} ]>
    %2 = stablehlo.tanh %1
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def CollectOnDevicesPass : Pass<"sdy-collect-on-devices", "mlir::func::FuncOp"> {
  let summary = "Communicates what is in the memory of devices, not of hosts";
  let description = [{
    A collective of what has just been moved to the host's memory
    (`LocalComputeOpInterface::movesTo`) comes before that move, one of what is
    then moved to the device behind it. A slice, which sends nothing, is taken on
    either side of a move to the device, where less is moved.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %1 = sdy.all_gather [{"x"}, {} ] %0 out_sharding=<@mesh, [{}, {} ]>
    %2 = stablehlo.custom_call @MoveToDevice(%1)
    ```
    becomes
    ```mlir
    %1 = stablehlo.custom_call @MoveToDevice(%0)
    %2 = sdy.all_gather [{"x"}, {} ] %1 out_sharding=<@mesh, [{}, {} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def HoistCollectivesPass : Pass<"sdy-hoist-collectives", "mlir::func::FuncOp"> {
  let summary = "Communicates before a loop what no run of it changes";
  let description = [{
    A collective of a value from outside the loop, of one that the loop carries
    unchanged, or of what is computed from such alone, also out of a branch in
    the loop and past a barrier that hands it on; not out of a loop that is
    known to run once at most. What it makes lives as long as the loop; where
    memory has a price for the loop (`sdy.memory_price`), that has to be less
    than what is saved. A slice of what a collective before the loop makes for
    nothing else goes there too, whatever it saves: the two become one.

    What a loop carries unchanged and nothing reads any more goes into it as it
    was before the collectives that brought it there.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %1 = stablehlo.while(%w = %0, ...) ... do {
      %2 = sdy.all_gather [{"x"}, {} ] %w out_sharding=<@mesh, [{}, {} ]>
    ```
    becomes
    ```mlir
    %2 = sdy.all_gather [{"x"}, {} ] %0 out_sharding=<@mesh, [{}, {} ]>
    %1 = stablehlo.while(%w = %0, ...) ... do {
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def AccumulateInLoopsPass : Pass<"sdy-accumulate-in-loops", "mlir::func::FuncOp"> {
  let summary = "Reduces a sum over the runs of a loop behind it, once";
  let description = [{
    A value that a loop carries, and to which every run adds one that it has
    reduced for that, is carried in parts: the summand's reduction goes, one of
    the result comes. Where it does not start from zeros, one device of those
    that have the same keeps the start, the others start from what does not
    count (of a maximum or minimum all keep it); one that is sharded otherwise
    is moved before. Between the reduction and the addition may stand ops that
    are linear in what is reduced (a transpose, a conversion to a wider type, an
    update of zeros); they are computed on parts. Where several accumulators add
    what is made of one reduced value (slices of the gradient of weights that the
    loop is given side by side), all of them carry parts, or none. What a run
    makes parts of, adds to several times and reduces then, is carried in parts
    too. What an inner loop carries so, the outer one may too; and where the
    outer one adds up what the inner one puts slices of into a tensor (the
    gradients of scanned layers, over microbatches), both carry parts. The price
    of it all is compared with that of all
    runs. Where memory has a price for the loop (`sdy.memory_price`), so has what
    is carried whole instead of sharded.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %1 = stablehlo.while(%sum = %zeros, ...) ... do {
      %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{} ]>
      %4 = stablehlo.add %sum, %3
    ```
    becomes
    ```mlir
    %1 = stablehlo.while(%sum = %zeros, ...) ... do {   // unreduced={"x"}
      %4 = stablehlo.add %sum, %2
    ...
    %5 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def BroadcastOwnerSlicesPass : Pass<"sdy-broadcast-owner-slices", "mlir::func::FuncOp"> {
  let summary = "Sends one position of a sharded dim from its device to all";
  let description = [{
    The result of an op that picks one position of a sharded dim
    (`LocalComputeOpInterface::getPickingRule`), and that is gathered, is instead
    the sum of what the owner has and of zeros, where that is cheaper.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %1 = stablehlo.slice %0 [3:4, 0:8]  // [{"x"}, {} ] of 8 rows
    %2 = sdy.all_gather [{"x"}, {} ] %1 out_sharding=<@mesh, [{}, {} ]>
    ```
    becomes
    ```mlir
    %1 = stablehlo.slice %0 [3:4, 0:8]  // [{}, {} ], unreduced={"x"}
    %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}, {} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def MergeReturnedReductionsPass
    : Pass<"sdy-merge-returned-reductions", "mlir::func::FuncOp"> {
  let summary = "Makes one of a user's reduction and the collective behind it";
  let description = [{
    A manual computation may return what the user reduced along its manual axes
    (JAX's `psum` at the end of a `shard_map`). If the only use of that result is
    a collective, the result is partial instead, and the cheapest chain from
    there takes the place of both, where it is cheaper.

    The devices of a group must be those that differ along the axes alone, of a
    mesh without an order of its devices.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"} ]>]
        out_shardings=[<@mesh, [{} ]>] manual_axes={"x"} (%arg1: tensor<8xf32>) {
      %2 = ... // the user's sum of %arg1 along "x"
      sdy.return %2 : tensor<8xf32>
    } : (tensor<32xf32>) -> tensor<8xf32>
    %1 = sdy.all_slice [{"x"} ] %0 out_sharding=<@mesh, [{"x"} ]>
    ```
    becomes
    ```mlir
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"} ]>]
        out_shardings=[<@mesh, [{} ], unreduced={"x"}>] manual_axes={"x"} (%arg1: tensor<8xf32>) {
      sdy.return %arg1 : tensor<8xf32>
    } : (tensor<32xf32>) -> tensor<8xf32>
    %1 = sdy.reduce_scatter [{"x"} ] %0 out_sharding=<@mesh, [{"x"} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def SplitAllReducesPass : Pass<"sdy-split-all-reduces", "mlir::func::FuncOp"> {
  let summary = "Reduces along fast axes first";
  let description = [{
    An all_reduce along axes of different speed becomes a reduce_scatter along
    a fast one, an all_reduce of the shards along the slow ones and a gather,
    where the device model says that this is cheaper.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %1 = sdy.all_reduce {"node", "gpu"} %0 out_sharding=<@mesh, [{} ]>
    ```
    becomes
    ```mlir
    %1 = sdy.reduce_scatter [{"gpu"} ] %0 out_sharding=<@mesh, [{"gpu"} ], unreduced={"node"}>
    %2 = sdy.all_reduce {"node"} %1 out_sharding=<@mesh, [{"gpu"} ]>
    %3 = sdy.all_gather [{"gpu"} ] %2 out_sharding=<@mesh, [{} ]>
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [DeviceModelOption];
}

def OptimizeCollectivesPass
    : Pass<"sdy-optimize-collectives", "mlir::func::FuncOp"> {
  let summary = "Runs the passes above until none finds anything";
  let description = [{
    In rounds, at most `max-rounds`; sdy-split-all-reduces follows, once. No
    round makes the program's price (sdy-price-collectives) higher.

    Before and after: no `sdy.reshard` but those that
    sdy-reshard-to-collectives leaves.

    ```mlir
    %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {} ]>
    %1 = sdy.all_reduce {"x"} %b out_sharding=<@mesh, [{}, {} ]>
    %2 = stablehlo.add %0, %1
    %3 = stablehlo.tanh %2
    %4 = sdy.all_slice [{"x"}, {} ] %3 out_sharding=<@mesh, [{"x"}, {} ]>
    ```
    becomes
    ```mlir
    %0 = stablehlo.add %a, %b           // unreduced={"x"}
    %1 = sdy.reduce_scatter [{"x"}, {} ] %0 out_sharding=<@mesh, [{"x"}, {} ]>
    %2 = stablehlo.tanh %1
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
  let options = [
    DeviceModelOption,
    Option<"maxRounds", "max-rounds", "unsigned", "4",
           "How often all passes run">,
  ];
}

def PriceCollectivesPass
    : Pass<"sdy-price-collectives", "mlir::func::FuncOp"> {
  let summary = "Says what the collectives of a function cost";
  let description = [{
    A remark at the function, on how many communicate, how much a device sends
    and how long that takes by the device model. A loop counts as often as it
    runs, or 8 times where that is not known.

    Precondition: collectives on global types, as of
    sdy-reshard-to-collectives. Changes nothing.

    ```
    remark: 3 collectives, 1344 bytes, 12.3 us
    ```
  }];
  let options = [DeviceModelOption];
}

def RemoveAllGatherReduceScatterForCmv1Pass
    : Pass<"sdy-remove-all-gather-reduce-scatter-for-cmv1",
           "mlir::func::FuncOp"> {
  let summary = "Leaves gathers before and scatters behind contractions to others";
  let description = [{
    For an engine that overlaps the contraction with the communication itself
    (collective matmul): a gather whose one use is a contraction goes, which then
    has an operand that is sharded otherwise; so does a reduce-scatter of a
    contraction that has no other use and states no partial sum, which then has
    the scattered sharding. What is left can't be partitioned here.

    Precondition: after the collectives stage. Postcondition: no all_gather
    whose one use is a contraction, no reduce_scatter of a contraction that
    has no other use and no stated partial sum.

    ```mlir
    %1 = sdy.all_gather [{"x"}, {} ] %0 out_sharding=<@mesh, [{}, {} ]>
    %2 = stablehlo.dot %1, %w
    ```
    becomes
    ```mlir
    %2 = stablehlo.dot %0, %w
    ```
  }];
  let dependentDialects = ["mlir::sdy::SdyDialect"];
}

#endif // SHARDONNAY_TRANSFORMS_COLLECTIVES_PASSES_TD
