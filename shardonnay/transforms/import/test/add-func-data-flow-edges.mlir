// RUN: sdy-opt %s -sdy-add-func-data-flow-edges | FileCheck %s
// RUN: sdy-opt %s -sdy-add-func-data-flow-edges -sdy-add-func-data-flow-edges | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// Nothing calls @main.
// CHECK-LABEL: func @main
// CHECK-NEXT: %[[CALL:.*]] = call @f(%arg0)
// CHECK-NEXT: %[[EDGE:.*]] = sdy.func_data_flow_edge %[[CALL]] : tensor<8xf32>
// CHECK-NEXT: return %[[EDGE]]
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: func private @f
// CHECK-NEXT: %[[EDGE:.*]] = sdy.func_data_flow_edge %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
// CHECK-NEXT: return %[[EDGE]]
func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
