// RUN: sdy-opt %s -sdy-insert-func-call-reshards | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// What is only left open is no difference.
// CHECK-LABEL: func @main
// CHECK-NEXT: %[[CALL:.*]]:3 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>}
// CHECK-NEXT: %[[FIRST:.*]] = sdy.reshard %[[CALL]]#0 <@mesh, [{}]>
// CHECK-NOT: sdy.reshard
// CHECK: return %[[FIRST]], %[[CALL]]#1
func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:3 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"x", ?}]>, <@mesh, [{}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @f(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %arg0, %arg0, %arg0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
