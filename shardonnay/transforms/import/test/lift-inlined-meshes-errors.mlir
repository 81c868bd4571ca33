// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-lift-inlined-meshes

func.func @axis_twice(%arg0: tensor<8xf32>) -> tensor<16xf32> {
  // expected-error @below {{has replica_groups on a mesh that is none: axis "x" occurs twice}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = "x", size = 2>, <name = "x", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

func.func @no_size(%arg0: tensor<8xf32>) -> tensor<16xf32> {
  // expected-error @below {{has replica_groups on a mesh that is none: expected a size of at least 1 for axis "x", got 0}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = "x", size = 0>]>, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
