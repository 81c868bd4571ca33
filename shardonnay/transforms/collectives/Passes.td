//===- Passes.td - reshards become collectives -------------- -*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_TRANSFORMS_COLLECTIVES_PASSES_TD
#define SHARDONNAY_TRANSFORMS_COLLECTIVES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ReshardToCollectivesPass
    : Pass<"sdy-reshard-to-collectives", "mlir::func::FuncOp"> {
  let summary = "Writes every reshard as the cheapest chain of collectives";
  let description = [{
    The chain is planned by an exact search (plan/ReshardPlan.h) over slices,
    all-to-alls, gathers and reductions; a reshard that changes nothing goes.
    Types stay global.

    Precondition: after the reshard stage. Postcondition: no `sdy.reshard`; its
    result is the last collective's, with the sharding it had.

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
    Option<"deviceModel", "device-model", "std::string", "\"cpu\"",
           "What the devices can do: bytes, cpu, gpu-node, gpu-cluster, "
           "tpu-torus, or the path of a JSON file (cost/DeviceModel.h)">,
  ];
}

#endif // SHARDONNAY_TRANSFORMS_COLLECTIVES_PASSES_TD
