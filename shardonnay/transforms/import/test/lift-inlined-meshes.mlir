// RUN: sdy-opt %s -split-input-file -sdy-lift-inlined-meshes | FileCheck %s

// In the order of their first use, behind the meshes that are there.
// CHECK:      module {
// CHECK-NEXT: sdy.mesh @mesh = <["x"=2]>
// CHECK-NEXT: sdy.mesh @maximal_mesh_1 = <[], device_ids=[1]>
// CHECK-NEXT: sdy.mesh @mesh_0 = <["x"=4]>
sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @inlined
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
// CHECK-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_1, []>}
// CHECK-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{"x"}]>})
func.func @inlined(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>},
                   %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[1]>, []>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=4]>, [{"x"}]>}) {
  return %arg0 : tensor<8xf32>
}

// -----

// Of equal meshes the first one stays.
// CHECK:      module {
// CHECK-NEXT: sdy.mesh @a = <["x"=2]>
// CHECK-NEXT: func
sdy.mesh @a = <["x"=2]>
sdy.mesh @b = <["x"=2]>

func.func @equal(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: sdy.sharding_constraint %arg0 <@a, [{"x"}]>
  %0 = sdy.sharding_constraint %arg0 <@b, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// The empty mesh gives way to the one in use, with the dims as they are.
// CHECK:      module {
// CHECK-NEXT: sdy.mesh @unused
// CHECK-NEXT: sdy.mesh @mesh = <["x"=2]> {stablehlo.mesh = {axes = []}}
// CHECK-NEXT: func
sdy.mesh @empty_mesh = <[]>
sdy.mesh @unused = <["y"=2]>
sdy.mesh @mesh = <["x"=2]> {stablehlo.mesh = {axes = []}}

// CHECK-SAME: %arg0: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}
func.func @empty(%arg0: tensor<f32> {sdy.sharding = #sdy.sharding<@empty_mesh, []>}, %arg1: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: sdy.sharding_constraint %arg1 <@mesh, [{}, {?}]>
  %0 = sdy.sharding_constraint %arg1 <@empty_mesh, [{}, {?}]> : tensor<8x8xf32>
  // CHECK: sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// A program on one device keeps it.
// CHECK: sdy.mesh @empty_mesh = <[]>
sdy.mesh @empty_mesh = <[]>

func.func @only_empty(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: sdy.sharding_constraint %arg0 <@empty_mesh, [{}]>
  %0 = sdy.sharding_constraint %arg0 <@empty_mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// The mesh of a user's collective, in its own order of devices.
// CHECK:      sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK-NEXT: sdy.mesh @mesh_0 = <["x"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
// CHECK-LABEL: func @collective
// CHECK: mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]
// CHECK: mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]
func.func @collective(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x"}]>}) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = "x", size = 2>, <name = "y", size = 4>], device_ids = dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>>, axes = [#stablehlo.axis_ref<name = "y">]>}> : (tensor<8xf32>) -> tensor<32xf32>
  %1 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = "x", size = 8>], device_ids = dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>>, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<8xf32>) -> tensor<64xf32>
  return %arg0 : tensor<8xf32>
}

// -----

// One that names another of two equal meshes names the one that stays.
// CHECK: sdy.mesh @a
// CHECK-NOT: sdy.mesh @b
// CHECK-LABEL: func @collective_on_an_equal_mesh
// CHECK: mesh = @a, axes
sdy.mesh @a = <["x"=2]>
sdy.mesh @b = <["x"=2]>
func.func @collective_on_an_equal_mesh(%arg0: tensor<8xf32>) -> tensor<16xf32> {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @b, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
