// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-sink-data-flow-edges))" | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @edges
func.func @edges(%arg0: tensor<8xf32>, %arg1: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  // CHECK: %[[B:.*]]:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>, <@mesh, [{?}]>]>} %arg0, %arg1
  // CHECK-NOT: data_flow_edge
  %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<8xf32>, tensor<4xf32>
  %1 = sdy.data_flow_edge %0#0 sharding=<@mesh, [{"x", ?}]> : tensor<8xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<4xf32>
  // CHECK: return %[[B]]#0, %[[B]]#1
  return %1, %2 : tensor<8xf32>, tensor<4xf32>
}
