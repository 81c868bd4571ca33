// RUN: sdy-opt %s -sdy-derive-op-shardings | FileCheck %s
// RUN: sdy-opt %s -sdy-derive-op-shardings=all | FileCheck %s --check-prefixes=CHECK,ALL

sdy.mesh @mesh = <["x"=2, "y"=2]>

// What is partial along x is reduced over what x shards.
// CHECK-LABEL: func @partial
func.func @partial(%a: tensor<8x32xf32>, %b: tensor<32x8xf32>) -> tensor<8x8xf32> {
  // CHECK: sdy.op_sharding = #sdy.sharding<@mesh, [{}, {"y"}, {"x"}]>
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}], unreduced={"x"}>]>}
      : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Results come first; an operand says the rest.
// CHECK-LABEL: func @whole
func.func @whole(%a: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<32x8xf32>) -> tensor<8x8xf32> {
  // ALL: sdy.op_sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}]>
  // CHECK-NOT: sdy.op_sharding
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
      : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Nothing is known of it.
// CHECK-LABEL: func @none
func.func @none(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NOT: sdy.op_sharding
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
