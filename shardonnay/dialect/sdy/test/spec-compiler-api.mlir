// The programs of spec/compiler_api.md, in today's syntax: what was transcribed is listed in
// docs/design/representation.md.

// RUN: sdy-opt %s -split-input-file -allow-unregistered-dialect | sdy-opt -split-input-file -allow-unregistered-dialect | FileCheck %s

// Input and output shardings: one input and the output have one.
sdy.mesh @mesh_xy = <["x"=2, "y"=2]>
// CHECK-LABEL: func @main
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {}]>}, %arg1: tensor<8x16xf32>)
// CHECK-SAME: -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{}, {"y"}]>})
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {}]>}, %arg1: tensor<8x16xf32>)
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{}, {"y"}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

// A constraint with uses, and a dangling one.
sdy.mesh @mesh_xy = <["x"=2, "y"=2]>
// CHECK-LABEL: func @constraint
func.func @constraint(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[C:.*]] = sdy.sharding_constraint %arg0 <@mesh_xy, [{"x"}, {?}]> : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %arg0 <@mesh_xy, [{"x"}, {?}]> : tensor<8x8xf32>
  // CHECK: sdy.sharding_constraint %arg0 <@mesh_xy, [{}, {"y"}]>
  %2 = sdy.sharding_constraint %arg0 <@mesh_xy, [{}, {"y"}]> : tensor<8x8xf32>
  // CHECK: return %[[C]]
  return %1 : tensor<8x8xf32>
}

// -----

// The output is sharded as the input, though no data flows between them.
// CHECK: module @jit_zeros_like
module @jit_zeros_like {
  sdy.mesh @mesh_xy = <["x"=2, "y"=2]>
  func.func @main(%arg0: tensor<8x2xi64> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"y"}]>}) -> tensor<8x2xi64> {
    // CHECK: sdy.sharding_group %arg0 group_id=0 : tensor<8x2xi64>
    sdy.sharding_group %arg0 group_id=0 : tensor<8x2xi64>
    // CHECK: %[[ZERO:.*]] = stablehlo.constant
    %0 = stablehlo.constant dense<0> : tensor<8x2xi64>
    // CHECK: sdy.sharding_group %[[ZERO]] group_id=0 : tensor<8x2xi64>
    sdy.sharding_group %0 group_id=0 : tensor<8x2xi64>
    return %0 : tensor<8x2xi64>
  }
}

// -----

// A manual computation along "data"; "model" is free, and may shard it further.
sdy.mesh @mesh_name = <["data"=2, "model"=2]>
// CHECK-LABEL: func @manual
func.func @manual(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
  // CHECK: sdy.manual_computation(%arg0) in_shardings=[<@mesh_name, [{"data"}, {"model", ?}]>] out_shardings=[<@mesh_name, [{"data"}, {?}]>] manual_axes={"data"} (%{{.*}}: tensor<8x32xf32>) {
  %0 = sdy.manual_computation(%arg0)
      in_shardings=[<@mesh_name, [{"data"}, {"model", ?}]>]
      out_shardings=[<@mesh_name, [{"data"}, {?}]>]
      manual_axes={"data"} (%arg1: tensor<8x32xf32>) {
    %1 = "test.body"(%arg1) : (tensor<8x32xf32>) -> tensor<8x32xf32>
    sdy.return %1 : tensor<8x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

// Nested, each along axes of its own; with several results.
sdy.mesh @mesh_name = <["data"=2, "model"=2]>
// CHECK-LABEL: func @nested
func.func @nested(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
  // CHECK: sdy.manual_computation(%arg0)
  // CHECK-SAME: manual_axes={"data"} (%[[OUTER:.*]]: tensor<8x32xf32>)
  // CHECK: sdy.manual_computation(%[[OUTER]])
  // CHECK-SAME: manual_axes={"model"} (%{{.*}}: tensor<8x16xf32>)
  %0:2 = sdy.manual_computation(%arg0)
      in_shardings=[<@mesh_name, [{"data"}, {?}]>]
      out_shardings=[<@mesh_name, [{"data"}, {?}]>, <@mesh_name, [{}], replicated={"data"}>]
      manual_axes={"data"} (%arg1: tensor<8x32xf32>) {
    %1 = sdy.manual_computation(%arg1)
        in_shardings=[<@mesh_name, [{}, {"model"}]>] out_shardings=[<@mesh_name, [{}, {"model"}]>]
        manual_axes={"model"} (%arg2: tensor<8x16xf32>) {
      sdy.return %arg2 : tensor<8x16xf32>
    } : (tensor<8x32xf32>) -> tensor<8x32xf32>
    %2 = "test.body"(%arg1) : (tensor<8x32xf32>) -> tensor<4xf32>
    sdy.return %1, %2 : tensor<8x32xf32>, tensor<4xf32>
  } : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<4xf32>)
  return %0#0 : tensor<16x32xf32>
}
