// RUN: sdy-opt %s -sdy-apply-op-shardings | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Rows by x; the sum along the contracted dim by y is left in parts.
// CHECK-LABEL: func @dot
func.func @dot(%a: tensor<8x32xf32>, %b: tensor<32x8xf32>) -> tensor<8x8xf32> {
  // CHECK-DAG: %[[A:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {"y"}]>
  // CHECK-DAG: %[[B:.*]] = sdy.sharding_constraint %arg1 <@mesh, [{"y"}, {}]>
  // CHECK: stablehlo.dot %[[A]], %[[B]]
  // CHECK-SAME: sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>
  %0 = stablehlo.dot %a, %b {sdy.op_sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>}
      : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A hint: what has the factor may be sharded further.
// CHECK-LABEL: func @hint
func.func @hint(%a: tensor<8x32xf32>, %b: tensor<32x8xf32>) -> tensor<8x8xf32> {
  // CHECK-DAG: sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}, {}]>
  // CHECK-DAG: sdy.sharding_constraint %arg1 <@mesh, [{}, {}]>
  // CHECK: sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {}]>]>
  %0 = stablehlo.dot %a, %b {sdy.op_sharding = #sdy.sharding<@mesh, [{"x", ?}, {}, {}]>}
      : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
