//===- Passes.td - passes that run other stages ------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_PIPELINE_PASSES_TD
#define SHARDONNAY_PIPELINE_PASSES_TD

include "mlir/Pass/PassBase.td"
include "shardonnay/transforms/propagate/PropagatePass.td"
include "shardonnay/analysis/DeviceModelOption.td"

def PerInstructionPartitioningPass
    : Pass<"sdy-per-instruction-partitioning", "::mlir::ModuleOp"> {
  let summary = "Partitions some operations alone, to find which one is wrong";
  let description = [{
    Each selected operation becomes a manual computation over all axes: what a
    device runs of it, its communication included, as if it were a program of
    its own with the operands' and results' shardings at the boundary. The rest
    stays as it is. A debugging aid: whoever partitions the remainder (we or
    another compiler) has no say in these operations.

    Selected may be operations with a sharding rule, constants, reshards and
    collectives, if some tensor of theirs is sharded and none is partial. The
    filter names them, with the dialect or without, or gives their numbers:
    they are counted from 0 in the order of the program, so `filter=0-41` and
    `filter=42-83` are the halves in which to look for the one that is wrong.

    A manual computation divides its dims. A tensor whose axes don't divide it
    is padded before it, and sliced behind it.

    Before: after export; one mesh. After: likewise.

    ```mlir
    %0 = stablehlo.reverse %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} : tensor<8xf32>
    ```
    becomes, on `<["x"=2]>`,
    ```mlir
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"} ]>]
        out_shardings=[<@mesh, [{"x"} ]>] manual_axes={"x"}
        (%arg1: tensor<4xf32>) {
      %1 = "stablehlo.collective_permute"(%arg1) ...
      %2 = stablehlo.reverse %1, dims = [0] : tensor<4xf32>
      sdy.return %2 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::sdy::SdyDialect",
                           "::mlir::spmd::SpmdDialect",
                           "::mlir::stablehlo::StablehloDialect"];
  let options = [
    Option<"filter", "filter", "std::string", "\"\"",
           "Operations, with commas between them: names (stablehlo.add, add), "
           "numbers (3, 2-5); none: all">,
    Option<"enableHaloExchange", "enable-halo-exchange", "bool", "true",
           "Neighbours send what a device's window needs">,
    Option<"replicaCount", "replica-count", "int64_t", "1",
           "Replicas that the engine runs">,
    Option<"partitionCount", "partition-count", "int64_t", "1",
           "Partitions of a replica; 1, of 1 replica: one for each device">,
  ];
}

def PadForDivisibilityPass
    : Pass<"sdy-pad-for-divisibility", "::mlir::func::FuncOp"> {
  let summary = "With `pad`: tensors grow until their axes divide them";
  let description = [{
    Types stay global up to `sdy-partition-to-local`, which gives a dim of size n
    that is sharded p ways local shards of ceil(n / p), and masks them where an
    op would read what stands behind the end. Before it, so also before
    `sdy-convert-global-to-local`, there is nothing to pad, and nothing is done.

    With `pad`, for a chain that ends in another tool's partitioner, every
    operation that has a tensor whose axes do not divide it is put on tensors of
    ceil(n / p) * p: an element-wise one as it is; any other as a manual
    computation over all axes, as by `sdy-per-instruction-partitioning`, which
    masks what stands behind the end. The padding of a tensor is not defined; a
    tensor is padded where it is still whole. An argument or result of the
    function that its axes do not divide is an error, and so is such a tensor
    that goes through a loop, a branch or a call.

    Before: `sdy-reshard-to-collectives`; one mesh. After: with `pad`, axes divide
    all tensors.

    ```mlir
    %0 = sdy.all_slice [{"x"} ] %arg0 out_sharding=<@mesh, [{"x"} ]> : tensor<10xf32>
    %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} : tensor<10xf32>
    ```
    becomes, on `<["x"=4]>`,
    ```mlir
    %0 = sdy.manual_computation(%arg0) ... : (tensor<10xf32>) -> tensor<12xf32>
    %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"} ]>]>} : tensor<12xf32>
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::sdy::SdyDialect",
                           "::mlir::spmd::SpmdDialect",
                           "::mlir::stablehlo::StablehloDialect"];
  let options = [
    Option<"pad", "pad", "bool", "false",
           "Pad, for a partitioner that wants axes to divide all tensors">,
  ];
}

def FitMemoryPass : Pass<"sdy-fit-memory", "::mlir::ModuleOp"> {
  let summary = "Prices memory until the plan is within the limit";
  let description = [{
    Where the program, planned and partitioned, would hold more at once on a
    device than the limit, the ops that make what is alive then get a price for
    each byte of their results, `sdy.memory_price`, which
    `sdy-insert-explicit-reshards` counts among all others. The prices are
    doubled, plan by plan, until one is within the limit or nothing changes
    any more; those that it does not need are taken off again. Then less is held, and more may be sent: a sum is scattered and
    gathered later, an activation sharded along an axis that was free. Arguments
    and results stay as they are.

    A program that would be within the limit whole is not looked at further.

    Before: after export. After: likewise.

    ```mlir
    %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {} ]>]>} : tensor<8x8xf32>
    ```
    becomes, if that is alive where too much is,
    ```mlir
    %0 = stablehlo.tanh %arg0 {sdy.memory_price = 1.250000e-01 : f64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {} ]>]>} : tensor<8x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect",
                           "::mlir::spmd::SpmdDialect"];
  let options = [
    Option<"memoryLimit", "memory-limit", "int64_t", "0",
           "Bytes of a device; 0: no limit">,
    DeviceModelOption,
    Option<"searchMode", "search-mode", "std::string", "\"greedy\"",
           "graph or greedy, as of sdy-insert-explicit-reshards">,
    Option<"noBucketing", "no-bucketing", "bool", "false",
           "Small tensors are not reduced or gathered together">,
  ];
}

def PropagateByPricePass : PropagatePass<"sdy-propagate-by-price"> {
  let summary = "Propagates in the order that makes the cheaper plan";
  let description = [{
    As `sdy-user-priority-propagate`. But where one axis was given to dims that
    meet in some op (the batch of the input, the rows of a weight), the order of
    propagation decides which of them has it there. The order of the ops is one
    choice. Others are those of an estimate: first the dims whose shardings cost
    least if they get wherever they can, the others in a second round, as if the
    user had given them the priority 1. Where at least a hundredth of all bytes
    is sharded otherwise then, the program is planned both ways, on copies, and
    the plan stays that is cheaper (compute and communication, by the device
    model) or, if only one does, fits into the memory. Programs of no more than
    2,000 ops, and all with `search-mode=graph`, are tried in up to three such
    orders, of no more than 10,000 in two. These are also planned with loops that
    carry what was given outside of them as it was given, where it would be
    gathered behind a loop, and with batches of sharded rows that devices share,
    where a loop takes one after the other. Where the user gave a priority, the
    order is the user's.

    Before and after: as of `sdy-user-priority-propagate`.

    ```mlir
    // %w : [{"x"}, {} ], %batch : [{"x"}, {} ], in a loop that carries %h
    %0 = stablehlo.dot %h, %w
    %1 = stablehlo.add %0, %batch
    ```
    becomes
    ```mlir
    %0 = stablehlo.dot %h, %w {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?} ]>]>}
    %1 = stablehlo.add %0, %batch {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?} ]>]>}
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect",
                           "::mlir::spmd::SpmdDialect"];
  let options = shared # [
    Option<"pipelineOptions", "options", "std::string", "\"\"",
           "The options of sdy-partition-pipeline that plans are made with">,
    Option<"recordOrder", "record-order", "bool", "false",
           "Leave on the module, as sdy.propagation_order, what came later, is "
           "carried as given or is split otherwise, and what the plans cost, "
           "if the order is not the one given">,
  ];
}

def ApplyCanonicalPatternsPass
    : Pass<"sdy-apply-canonical-patterns", "::mlir::ModuleOp"> {
  let summary = "Canonical forms without folding";
  let description = [{
    The canonicalization patterns of all operations, and operations that nothing
    uses go. It does what MLIR's `canonicalize` does without folding and without
    simplifying regions, in less time where a program is long: folding would
    merge constants and drop their locations.

    Before: any program. After: likewise.

    ```mlir
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<1x8xf32>
    ```
  }];
}

def ShareEqualOpsPass
    : Pass<"sdy-share-equal-ops", "::mlir::func::FuncOp"> {
  let summary = "Leaves one of the operations that compute the same";
  let description = [{
    Of operations without effects that are equal, on equal operands, the first
    stays, where it stands before the others or around them. Operations that
    nothing uses go. It finds what MLIR's `cse` finds, but for operations that
    only read memory, and in less time where a program is long.

    What is in a loop may stay: sums that a loop carries are reduced behind it
    only where each has a reduction of its own.

    Before: any program. After: likewise.

    ```mlir
    %0 = stablehlo.negate %arg0 : tensor<8xf32>
    %1 = stablehlo.negate %arg0 : tensor<8xf32>
    %2 = stablehlo.add %0, %1 : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = stablehlo.negate %arg0 : tensor<8xf32>
    %2 = stablehlo.add %0, %0 : tensor<8xf32>
    ```
  }];
  let options = [
    Option<"keepLoops", "keep-loops", "bool", "false",
           "Operations in loops stay as they are">,
  ];
}

def PrintFormulasPass : Pass<"sdy-print-formulas", "::mlir::ModuleOp"> {
  let summary = "What a plan costs, as formulas in the sizes of the mesh's axes";
  let description = [{
    As JSON: the bytes that a device sends, by kind of collective and axes, and
    by each axis; the FLOPs of contractions that all devices compute beyond those
    of the program; the most bytes that a device holds at once (in program order,
    each value for itself: no fusion of element-wise ops). Each as a formula, and
    as its number for the mesh that there is. With other sizes the plan might be
    another one: the formulas are of this one.

    What windows fetch is a number; so is a collective between two orders of the
    devices.

    Before: collectives on global types (after `collectives`), one mesh. After:
    likewise; changes nothing.

    ```mlir
    sdy.mesh @mesh = <["x"=2]>
    %0 = sdy.all_gather [{"x"} ] %a out_sharding=<@mesh, [{} ]> : tensor<8xf32>
    ```
    prints, among others,
    ```
    {"axes": ["x"], "bytes": 16, "formula": "4 * ceil(8 / x) * (x - 1)", "kind": "all_gather"}
    ```
  }];
  let options = [Option<"output", "output", "std::string", "\"-\"",
                        "The file that it is written to; -: standard output">];
}

#endif // SHARDONNAY_PIPELINE_PASSES_TD
