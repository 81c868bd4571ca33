//===- Passes.td - from spmd to a target's program ---------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_EMIT_PASSES_TD
#define SHARDONNAY_EMIT_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitStablehloPass : Pass<"sdy-emit-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Writes the per-device program in StableHLO alone.";
  let description = [{
    `spmd` communication becomes StableHLO collectives with dense replica groups
    over all devices, the device's own index arithmetic on `partition_id`,
    `sdy.constant` `stablehlo.constant`. Partition id p is the device that
    stands in the mesh as p.

    With `replica-count` R and `partition-count` P the mesh is one of R * P
    devices, flattened id r * P + p, or of P, which every replica has. An
    all_to_all or permute between devices that differ in both is a gather, of
    which each takes its part: StableHLO's own name one of the two. What the
    program itself says of devices (user collectives in manual computations) is
    meant for one replica, and is given the ids that it has among several.

    Before: local types, `spmd` ops (after `sdy-partition-to-local`).

    All_reduces that the program came with are written as the target can do them
    (Target.h): several operands one by one, bitwise ones as a gather that each
    device reduces. So is an `fft`, but with `any-engine`: its result is held row-major.

    After: no `sdy` (but meshes, with `enable-rgv3` or `keep-meshes`), no `spmd`;
    `mhlo.num_partitions` is the number of devices and `mhlo.num_replicas` 1, or
    as the options say. PJRT runs it as it is, without a partitioner.

    ```mlir
    %1 = spmd.all_reduce %0 @mesh {"x"} : tensor<4xf32>
    ```
    becomes, on a mesh `["x"=2, "y"=2]`,
    ```mlir
    %1 = "stablehlo.all_reduce"(%0) <{
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>,
        use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %2 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %2 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
  let options = [
    Option<"enableRGV3", "enable-rgv3", "bool", "false",
           "Replica groups name mesh axes, not devices "
           "(#stablehlo.replica_group_mesh_axes); the mesh stays">,
    Option<"keepMeshes", "keep-meshes", "bool", "false",
           "The meshes stay, for shardings that name them">,
    Option<"anyEngine", "any-engine", "bool", "false",
           "No calls that only some engines know hold an fft's layout">,
    Option<"replicaCount", "replica-count", "int64_t", "1",
           "Replicas that the engine runs">,
    Option<"partitionCount", "partition-count", "int64_t", "1",
           "Partitions of a replica; 1, of 1 replica: one for each device">,
  ];
}

def NumberChannelsPass : Pass<"sdy-number-channels", "::mlir::ModuleOp"> {
  let summary = "Gives each collective a channel of its own";
  let description = [{
    Engines may key on channel handles. Collectives that have one are numbered
    in the order of the program, from 1, or above the handles of transfers,
    which stay. Equal collectives are no longer equal then, so it runs last.

    Before and after: the program of one device.

    ```mlir
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>
    ```
    of the second collective becomes
    ```mlir
    channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>
    ```
  }];
}

#endif // SHARDONNAY_EMIT_PASSES_TD
