// RUN: sdy-opt %s -sdy-inline-meshes | FileCheck %s

// CHECK-NOT: sdy.mesh
sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>})
// CHECK: sdy.sharding_constraint %arg0 <mesh<["x"=2]>, [{?}]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{?}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @collective
// CHECK: replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x">]>
func.func @collective(%arg0: tensor<8xf32>) -> tensor<16xf32> {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
