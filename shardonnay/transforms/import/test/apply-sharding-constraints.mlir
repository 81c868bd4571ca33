// RUN: sdy-opt %s -sdy-apply-sharding-constraints | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @definite
// CHECK-SAME:  %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}
// CHECK-NEXT:  %[[A:.*]] = stablehlo.abs %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT:  sdy.sharding_constraint %[[A]] <@mesh, [{"x"}]>
func.func @definite(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.abs %arg0 : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sdy.sharding_constraint %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Open dims are propagation's business, unreduced axes the constrained value's.
// CHECK-LABEL: func @indefinite
// CHECK-SAME:  (%arg0: tensor<8xf32>, %arg1: tensor<8xf32>)
func.func @indefinite(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %arg1 <@mesh, [{"x"}], unreduced={"y"}> : tensor<8xf32>
  return
}

// CHECK-LABEL: func @differ
// CHECK-SAME:  (%arg0: tensor<8xf32>)
func.func @differ(%arg0: tensor<8xf32>) {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
  return
}

// CHECK-LABEL: func @has_sharding
// CHECK-SAME:  (%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>})
func.func @has_sharding(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  return
}

// CHECK-LABEL: func @edge
// CHECK:       %[[E:.*]] = sdy.data_flow_edge %{{.*}} : tensor<8xf32>
// CHECK-NEXT:  %[[C:.*]] = sdy.sharding_constraint %[[E]] <@mesh, [{"x"}]>
// CHECK-NEXT:  %[[A:.*]] = stablehlo.abs %[[C]]
// CHECK-NEXT:  return %[[A]], %[[C]]
func.func @edge(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  %2 = stablehlo.abs %1 : tensor<8xf32>
  %3 = sdy.sharding_constraint %1 <@mesh, [{"x"}]> : tensor<8xf32>
  return %2, %1 : tensor<8xf32>, tensor<8xf32>
}

// Uses behind the chain, in its block, take its end; the terminator does not.
// CHECK-LABEL: func @chain
// CHECK:       %[[BEFORE:.*]] = stablehlo.abs %arg0
// CHECK-NEXT:  %[[X:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]>
// CHECK-NEXT:  %[[Y:.*]] = sdy.sharding_constraint %[[X]] <@mesh, [{"y"}]>
// CHECK-NEXT:  %[[BEHIND:.*]] = stablehlo.abs %[[Y]]
// CHECK-NEXT:  return %[[BEFORE]], %[[BEHIND]], %arg0
func.func @chain(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.abs %arg0 : tensor<8xf32>
  %1 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"y"}]> : tensor<8xf32>
  %3 = stablehlo.abs %arg0 : tensor<8xf32>
  return %0, %3, %arg0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// What a manual computation takes a value in.
// CHECK-LABEL: func @manual_computation
func.func @manual_computation(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: stablehlo.sine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  %0 = stablehlo.sine %arg0 : tensor<8x8xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<4x8xf32>) {
    sdy.return %arg2 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // Another use wants it otherwise.
  // CHECK: stablehlo.sine %arg1 : tensor<8x8xf32>
  %2 = stablehlo.sine %arg1 : tensor<8x8xf32>
  %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<4x8xf32>) {
    sdy.return %arg2 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = sdy.sharding_constraint %2 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %5 = stablehlo.add %3, %4 : tensor<8x8xf32>
  return %1, %5 : tensor<8x8xf32>, tensor<8x8xf32>
}

// An edge's other uses see it too.
// CHECK-LABEL: func @manual_computation_of_an_edge
func.func @manual_computation_of_an_edge(%arg0: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.optimization_barrier %arg0 : tensor<8x8xf32>
  // CHECK: %[[EDGE:.*]] = sdy.data_flow_edge
  // CHECK-NEXT: %[[IN:.*]] = sdy.sharding_constraint %[[EDGE]] <@mesh, [{"x"}, {}]>
  // CHECK-NEXT: stablehlo.negate %[[IN]]
  // CHECK-NEXT: sdy.manual_computation(%[[IN]])
  %1 = sdy.data_flow_edge %0 : tensor<8x8xf32>
  %2 = stablehlo.negate %1 : tensor<8x8xf32>
  %3 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<4x8xf32>) {
    sdy.return %arg2 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>
}

// What a reduction's body combines is part of the reduction. JAX constrains it in a shard_map over some of the axes.
// CHECK-LABEL: func @in_a_body
// CHECK: %[[M:.*]] = stablehlo.maximum %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NEXT: sdy.sharding_constraint %[[M]] <@mesh, []>
func.func @in_a_body(%arg0: tensor<8xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%arg0 init: %init) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
   reducer(%arg1: tensor<f32>, %arg2: tensor<f32>) {
    %1 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
    %2 = sdy.sharding_constraint %1 <@mesh, []> : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}
