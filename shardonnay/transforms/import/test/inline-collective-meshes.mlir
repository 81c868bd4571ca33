// RUN: sdy-opt %s -sdy-inline-collective-meshes | FileCheck %s

// CHECK: sdy.mesh @mesh
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other_order = <["x"=2, "y"=4], device_ids=[0, 2, 4, 6, 1, 3, 5, 7]>

// CHECK-LABEL: func @named
// CHECK: replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 4>]>, axes = [#stablehlo.axis_ref<name = "y">]>
func.func @named(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @groups
// CHECK: replica_groups = dense<
func.func @groups(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Along parts of axes too, in the order in which they are named.
// CHECK-LABEL: func @in_another_order
// CHECK: replica_groups = dense<{{\[}}[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>
// CHECK: replica_groups = dense<{{\[}}[0, 1, 4, 5], [2, 3, 6, 7]]> : tensor<2x4xi64>
// CHECK: replica_groups = dense<{{\[}}[7, 5], [6, 4], [3, 1], [2, 0]]> : tensor<4x2xi64>
func.func @in_another_order(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @other_order, axes = [#stablehlo.axis_ref<name = "y">]>}> : (tensor<8xf32>) -> tensor<32xf32>
  %1 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @other_order, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>, #stablehlo.axis_ref<name = "x">]>}> : (tensor<8xf32>) -> tensor<32xf32>
  %2 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = "x", size = 8>], device_ids = dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (2)2>]>}> : (tensor<8xf32>) -> tensor<16xf32>
  return %arg0 : tensor<8xf32>
}
