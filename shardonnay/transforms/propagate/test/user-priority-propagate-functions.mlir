// RUN: sdy-opt %s --sdy-add-func-data-flow-edges --sdy-pre-order-funcs --sdy-user-priority-propagate | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// From what the calls pass to the argument, and from what is returned to the
// results of the calls; not to the function's own results.
// CHECK-LABEL: func public @main
// CHECK: %[[CALL:.*]] = call @f(%arg0)
// CHECK-NEXT: sdy.func_data_flow_edge %[[CALL]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>}
// CHECK-LABEL: func private @f(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: sdy.func_data_flow_edge %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>}
func.func private @f(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}) {
  %0 = call @f(%arg0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
