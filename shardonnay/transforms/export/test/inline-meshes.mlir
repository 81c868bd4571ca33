// RUN: sdy-opt %s -sdy-inline-meshes | FileCheck %s

// CHECK-NOT: sdy.mesh
sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>})
// CHECK: sdy.sharding_constraint %arg0 <mesh<["x"=2]>, [{?}]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{?}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
