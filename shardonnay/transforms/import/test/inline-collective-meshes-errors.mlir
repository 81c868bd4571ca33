// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-inline-collective-meshes

func.func @another_number_of_devices(%arg0: tensor<8xf32>) -> tensor<64xf32> {
  // expected-error @below {{has replica_groups on a mesh that is none: expected 8 device ids, one for each position of the mesh, got 1}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = "x", size = 8>], device_ids = dense<[0]> : tensor<1xi64>>, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<8xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

sdy.mesh @mesh = <["x"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
func.func @no_part_of_an_axis(%arg0: tensor<8xf32>) -> tensor<64xf32> {
  // expected-error @below {{has replica_groups along other axes: sub-axis "x":(4)8: expected its pre-size times its size to divide the size 8 of the axis}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (4)8>]>}> : (tensor<8xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

sdy.mesh @mesh = <["x"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
func.func @no_axis(%arg0: tensor<8xf32>) -> tensor<64xf32> {
  // expected-error @below {{has replica_groups along other axes: unknown axis "y"}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>}> : (tensor<8xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
