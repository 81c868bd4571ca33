// RUN: sdy-opt %s -split-input-file -sdy-drop-sharding-and-mesh | FileCheck %s

// CHECK-NOT: sdy.
sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @main(%arg0: tensor<8xf32>) -> tensor<8xf32>
// CHECK: stablehlo.tanh %arg0 : tensor<8xf32>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// An operation still names it.
// CHECK: sdy.mesh @mesh
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  return
}
