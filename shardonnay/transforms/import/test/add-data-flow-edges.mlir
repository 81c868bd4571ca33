// RUN: sdy-opt %s -sdy-add-data-flow-edges | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @barrier
// CHECK-NEXT:  %[[B:.*]]:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<8xf32>, tensor<4xf32>
// CHECK-NEXT:  %[[E0:.*]] = sdy.data_flow_edge %[[B]]#0 : tensor<8xf32>
// CHECK-NEXT:  %[[E1:.*]] = sdy.data_flow_edge %[[B]]#1 : tensor<4xf32>
// CHECK-NEXT:  return %[[E0]], %[[E1]]
func.func @barrier(%arg0: tensor<8xf32>, %arg1: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<8xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<8xf32>, tensor<4xf32>
}

// The edge takes the owner's sharding.
// CHECK-LABEL: func @sharding
// CHECK-NEXT:  %[[B:.*]] = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
// CHECK-NEXT:  %[[E:.*]] = sdy.data_flow_edge %[[B]] sharding=<@mesh, [{"x", ?}]> : tensor<8xf32>
// CHECK-NEXT:  sdy.sharding_group %[[E]]
func.func @sharding(%arg0: tensor<8xf32>) {
  %0 = "stablehlo.optimization_barrier"(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8xf32>
  return
}
