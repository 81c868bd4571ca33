//===- Passes.td - from global to per-device programs ------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_PARTITION_PASSES_TD
#define SHARDONNAY_TRANSFORMS_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"
include "shardonnay/analysis/DeviceModelOption.td"

def MarkPartialResultsPass
    : Pass<"sdy-mark-partial-results", "::mlir::func::FuncOp"> {
  let summary = "Results in parts say so";
  let description = [{
    Other tools leave the result of an op that reduces over a sharded factor as
    it will be when the collective behind it is done. Here it is marked
    `unreduced` as sdy-partition-to-local reads it. A collective behind it that
    reduces along these axes is left, and combines as the op does; without one
    the value is reduced for its uses. A collective that reduces what an op
    makes whole (by a rule that is not the other tool's: an argmax has no sums)
    would add copies: it goes, or is an `all_slice`.

    Before and after: disagreements are collectives.

    ```mlir
    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {} ]>]>}
    %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {} ]>
    ```
    becomes, where "y" shards what is contracted,
    ```mlir
    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {} ], unreduced={"y"}>]>}
    %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {} ]>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def CheckEveryDevicePass
    : Pass<"sdy-check-every-device", "::mlir::ModuleOp"> {
  let summary = "Refuses what would happen, or be another thing, on each device";
  let description = [{
    Outside of manual computations all devices run an op together. So an op with
    an effect (an infeed, a custom call that says so) is refused unless it is on
    one device, and so is an op that speaks of single devices (an all_reduce),
    which on global tensors means nothing. What only asks which device it is on
    (a partition_id) is its number. A mesh of more devices
    than programs can list is refused too; without a mesh the program is that of
    one device already. In `compile`, sdy-check-supported sees
    to this on import; here it is for those who chain passes.

    Precondition: sdy-resolve-single-device-sharding has run, if anything is on
    one device. Postcondition: the same.

    ```mlir
    func.func @f(%x: tensor<8xf32>) {
      %0 = stablehlo.custom_call @log(%x) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
    ```
    is an error at the call.
  }];
}

def PartitionToLocalPass : Pass<"sdy-partition-to-local", "::mlir::ModuleOp"> {
  let summary = "Rewrites the program to what each device runs.";
  let description = [{
    Gives every value the type of the shard that one device holds, and replaces
    the `sdy` collectives on global types by `spmd` ops on local ones, one per
    dim. Each op writes its own local computation (LocalComputeOpInterface).

    Before: the operands and results of every op agree on the axes of each of
    its factors, partial results are `unreduced`, every difference is an `sdy`
    collective, or a reshard of what is replicated. This is checked; a program
    that breaks it is refused. Only collectives, reshards, arguments and results
    are on another mesh than the program's.

    After: all types are local. No sharding is left, and of the meshes only the
    one in use. Function arguments and results have the local types of the
    shardings they had; a donation (`tf.aliasing_output`) between values whose
    local types differ is dropped with a remark. With `keep-shardings` they keep
    those, and so do ops that are as they were but for their types: they say of
    which tensor this is a shard.

    What an op fetches for itself has as its `sdy.cause` what it is for, and what
    the op's next best strategy would cost.

    Where a device's window of an operand is all of a dim that is sharded, the
    op gathers it: a warning says so with the bytes, an error with
    `no-implicit-replication`.

    A dim of size n that is sharded p ways has the local size ceil(n / p);
    behind position n stands anything. Reductions over such a dim fill it with
    the combiner's neutral element first; where shards do not nest (10 rows are
    5 and 5 on two devices, but 3, 3, 3 and 1 on four) a collective is
    accompanied by an `spmd.fetch_window` that moves the few rows between.

    ```mlir
    func.func @main(
        %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {} ]>})
        -> tensor<8x4xf32> {
      %0 = stablehlo.add %x, %x {sdy.sharding =
          #sdy.sharding_per_value<[<@mesh, [{"x"}, {} ]>]>} : tensor<8x4xf32>
      %1 = sdy.all_gather [{"x"}, {} ] %0 out_sharding=<@mesh, [{}, {} ]>
          : tensor<8x4xf32>
      return %1 : tensor<8x4xf32>
    }
    ```
    becomes, on a mesh `x` of size 2,
    ```mlir
    func.func @main(%x: tensor<4x4xf32>) -> tensor<8x4xf32> {
      %0 = stablehlo.add %x, %x : tensor<4x4xf32>
      %1 = spmd.all_gather %0 dim=0 @mesh {"x"}
          : (tensor<4x4xf32>) -> tensor<8x4xf32>
      return %1 : tensor<8x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::spmd::SpmdDialect"];
  let options = [
    Option<"noImplicitReplication", "no-implicit-replication", "bool", "false",
           "A gather because an op's windows are all of a dim is an error">,
    DeviceModelOption,
    Option<"recordsCauses", "records-causes", "bool", "true",
           "Leave on each collective why it is there">,
    Option<"keepShardings", "keep-shardings", "bool", "false",
           "Leave the shardings of the tensors that local ones are shards of">,
  ];
}

def CheckMemoryPass : Pass<"sdy-check-memory", "::mlir::ModuleOp"> {
  let summary = "Refuses a program that needs more memory than a device has";
  let description = [{
    Finds the most bytes alive at once on a device (analysis/PeakMemory.h), in
    program order, chains of element-wise ops fused, and fails where they are
    more than the limit, with the op and the largest values; with `warns` it
    says so only.

    Before and after: local types.

    ```mlir
    %0 = stablehlo.reverse %x, dims = [0] : tensor<1024xf32>   // 8192 bytes are alive
    ```
    with `memory-limit=5000` is an error there.
  }];
  let options = [Option<"memoryLimit", "memory-limit", "int64_t", "0",
                        "Bytes of a device; 0: no limit">,
                 Option<"warns", "warns", "bool", "false",
                        "Needing more is a warning, not an error">];
}

def RematerializePass : Pass<"sdy-rematerialize", "::mlir::ModuleOp"> {
  let summary = "Makes twice what would be alive too long for the memory";
  let description = [{
    Where more is alive on a device than the limit, values that wait for a later
    use are rematerialized before it: first those that are computed element by
    element, by one op or several, from what is there anyway or is smaller (a
    broadcast), which sends nothing, then those that were gathered or moved; of
    each the one first that frees most, as long as there are any. So the weights
    of a forward pass are gathered again in the backward pass, and where a loop
    over microbatches held them, in each of its runs. What nothing needs before
    only moves.

    Precondition: after sdy-partition-to-local. Postcondition: the same; within
    the limit, or nothing at the peak waits that can be rematerialized.

    ```mlir
    %1 = spmd.all_gather %0 dim=0 @mesh {"x"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.dot %a, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = stablehlo.tanh %2 : tensor<8x8xf32>     // the peak
    %4 = stablehlo.dot %3, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    ```
    becomes
    ```mlir
    %1 = spmd.all_gather %0 dim=0 @mesh {"x"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.dot %a, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = stablehlo.tanh %2 : tensor<8x8xf32>
    %5 = spmd.barrier %0 after %3 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %6 = spmd.all_gather %5 dim=0 @mesh {"x"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
    %4 = stablehlo.dot %3, %6 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    ```
  }];
  let options = [Option<"memoryLimit", "memory-limit", "int64_t", "0",
                        "Bytes of a device; 0: no limit">];
  let dependentDialects = ["::mlir::spmd::SpmdDialect"];
}

def BucketCollectivesPass
    : Pass<"sdy-bucket-collectives", "::mlir::func::FuncOp"> {
  let summary = "Reduces and gathers small tensors together";
  let description = [{
    Collectives of one kind (all_reduce, all_gather, reduce_scatter) along the same
    axes, on the same element type (for an all_gather: of as many bits), become one of a tensor that their operands are
    packed in, where none needs the result of another. One that stands further down
    comes up to those if its operand is there, or is made of what is there by pure
    ops that make nothing larger: so the weights that a step gathers one by one are
    gathered at once. A gather that also serves a window of its operand stays
    alone, as the program of a device has it once then.

    Those do for which the latency saved is more than the time for copying them
    there and back, by the device model; none by one that has no price for memory,
    as `bytes`. With a limit of memory (the option, or else the model's) none comes
    to live so long that more is alive than that.

    Precondition: after sdy-partition-to-local. Postcondition: the same.

    ```mlir
    %2 = spmd.all_reduce %0 @mesh {"x"} : tensor<4x4xf32>
    %3 = spmd.all_reduce %1 @mesh {"x"} : tensor<f32>
    ```
    becomes
    ```mlir
    %4 = spmd.pack %0, %1 : (tensor<4x4xf32>, tensor<f32>) -> tensor<17xf32>
    %5 = spmd.all_reduce %4 @mesh {"x"} : tensor<17xf32>
    %6:2 = spmd.unpack %5 : (tensor<17xf32>) -> (tensor<4x4xf32>, tensor<f32>)
    ```
  }];
  let dependentDialects = ["::mlir::spmd::SpmdDialect"];
  let options = [
    DeviceModelOption,
    Option<"memoryLimit", "memory-limit", "int64_t", "0",
           "Bytes of a device; 0: what the model says">,
  ];
}

def ResolveSingleDeviceShardingPass
    : Pass<"sdy-resolve-single-device-sharding", "::mlir::func::FuncOp"> {
  let summary = "What is on one device is computed there, and sent to all";
  let description = [{
    An op with a sharding on one device (a maximal mesh) becomes the body of an
    `spmd.on_device`: with its effects it runs there and nowhere else; the other
    devices have the neutral element, and an all_reduce gives its results to all,
    unless only ops on the same device use them, which take them as they are.
    A constraint to one device goes: who has the value everywhere has it there.
    What a named computation has on one device by its boundary is open there.
    An op with results on two devices is an error, and so is an argument or a
    result of the function on one device: the boundary is the whole mesh's. With
    `keep-given`, as in `compile`, such an argument is sent to all, and such a
    result keeps its sharding, which says where the caller finds it. In `compile`
    this runs in the import stage.

    Before: any stage up to partition. After: no op is on one device.

    ```mlir
    %0 = stablehlo.sine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@maximal_3, []>]>} : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = sdy.constant dense<-0.0> : tensor<8xf32>
    %1 = spmd.on_device 3 @mesh(%arg0) else(%0) {
    ^bb0(%arg1: tensor<8xf32>):
      %3 = stablehlo.sine %arg1 : tensor<8xf32>
      spmd.return %3 : tensor<8xf32>
    } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %2 = spmd.all_reduce %1 @mesh {"x", "y"} : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect",
                           "::mlir::spmd::SpmdDialect"];
  let options = [
    Option<"keepGiven", "keep-given", "bool", "false",
           "Take arguments and results on one device">,
    Option<"replicaCount", "replica-count", "int64_t", "1",
           "Has no influence here: emission numbers the devices">,
    Option<"partitionCount", "partition-count", "int64_t", "1",
           "Has no influence here: emission numbers the devices">,
  ];
}

#endif // SHARDONNAY_TRANSFORMS_PARTITION_PASSES_TD
