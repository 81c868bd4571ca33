// RUN: sdy-opt %s -split-input-file -sdy-basic-propagate | FileCheck %s

// Both ways, to arguments and results of the function.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func @both_ways
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y", ?}]>}
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y"}]>})
func.func @both_ways(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}) {
  // CHECK: tanh {{.*}}<@mesh, [{"x", ?}, {"y", ?}]>
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A conflict leaves both tensors as they are.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func @conflict
func.func @conflict(
    %arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  // CHECK: dot_general
  // CHECK-NOT: sdy.sharding
  // CHECK: return
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// The major part of a compound dim takes a sub-axis, the minor part the rest.
sdy.mesh @mesh = <["x"=4, "y"=4]>
// CHECK-LABEL: func @reshape
func.func @reshape(
    %arg0: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", ?}, {?}]>}) -> tensor<8x8xf32> {
  // CHECK: reshape {{.*}}<@mesh, [{"x", "y":(1)2, ?}, {"y":(2)2, ?}]>
  %0 = stablehlo.reshape %arg0 : (tensor<16x4xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A rule of the user's replaces the op's own: here nothing is shared.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @custom_rule
func.func @custom_rule(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK: tanh
  // CHECK-NOT: @mesh
  // CHECK: return
  %0 = stablehlo.tanh %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=8, j=8}, custom>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// It need not say that it is custom.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @user_rule
func.func @user_rule(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) -> tensor<8x8xf32> {
  // CHECK: tanh {{.*}}<@mesh, [{?}, {"x", ?}]>
  %0 = stablehlo.tanh %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=8, j=8}>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Tensors of two meshes exchange nothing.
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["x"=4]>
// CHECK-LABEL: func @two_meshes
func.func @two_meshes(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{?}]>}) -> tensor<8xf32> {
  // CHECK: stablehlo.add %arg0, %arg1 : tensor<8xf32>
  %0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// The empty mesh is a place holder for any.
sdy.mesh @empty = <[]>
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @empty_mesh
func.func @empty_mesh(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@empty, [{?}]>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}
  %0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Barriers, constraints and data-flow edges.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func @structure
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}
func.func @structure(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}) -> tensor<8x8xf32> {
  // CHECK: propagation_barrier {{.*}}<@mesh, [{"x", ?}, {"y", ?}]>
  %0 = sdy.propagation_barrier %arg0 allowed_direction=FORWARD : tensor<8x8xf32>
  // CHECK: sdy.sharding_constraint {{.*}} <@mesh, [{}, {"y", ?}]>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"y", ?}]> : tensor<8x8xf32>
  // CHECK: optimization_barrier %{{[0-9]*}} : tensor<8x8xf32>
  %2 = stablehlo.optimization_barrier %1 : tensor<8x8xf32>
  // CHECK: data_flow_edge {{.*}} sharding=<@mesh, [{?}, {"y", ?}]>
  %3 = sdy.data_flow_edge %2 : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// -----

// What was given at the boundary and might be trimmed is put on record.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func @given
// CHECK-SAME: {sdy.given_sharding = #sdy.sharding<@mesh, [{"x", ?}]>, sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}
// CHECK-SAME: %arg1: tensor<6xf32> {sdy.sharding
func.func @given(%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}, %arg1: tensor<6xf32>) -> tensor<6xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<6xf32>
  return %0 : tensor<6xf32>
}
