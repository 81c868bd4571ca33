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
