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

    Before: local types, `spmd` ops (after `sdy-partition-to-local`).

    After: no `sdy`, no `spmd`; `mhlo.num_partitions` is the number of devices,
    `mhlo.num_replicas` is 1. PJRT runs it as it is, without a partitioner.

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
}

#endif // SHARDONNAY_EMIT_PASSES_TD
