// RUN: sdy-opt %s -sdy-remove-propagation-debug-info | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {jax.result_info = "result"}) {
// CHECK-NEXT: stablehlo.tanh %arg0 : tensor<8xf32>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, sdy.sharding_origins = {x = "self"}}) -> (tensor<8xf32> {jax.result_info = "result", sdy.sharding_origins = {x = "input: 0"}}) {
  %0 = stablehlo.tanh %arg0 {sdy.sharding_origins = [{x = "input: 0"}]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
