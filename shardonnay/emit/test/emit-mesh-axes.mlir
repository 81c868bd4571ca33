// RUN: sdy-opt %s --sdy-emit-stablehlo=enable-rgv3 | FileCheck %s
// RUN: sdy-opt %s --sdy-emit-stablehlo="replica-count=2 partition-count=8 enable-rgv3" | FileCheck %s --check-prefix=COPIES

// CHECK: sdy.mesh @mesh
sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @all_reduce
// CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>, #stablehlo.axis_ref<name = "x">]>
// The mesh does not have the devices of both replicas.
// COPIES: replica_groups = dense<{{\[\[}}0, 4, 2, 6], [1, 5, 3, 7], [8, 12, 10, 14], [9, 13, 11, 15]]>
func.func @all_reduce(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = spmd.all_reduce %a @mesh {"y":(1)2, "x"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @all_to_all
// CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
// COPIES: replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
func.func @all_to_all(%a: tensor<4x2xf32>) -> tensor<2x4xf32> {
  %0 = spmd.all_to_all %a split_dim=0 concat_dim=1 @mesh {"x"} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
