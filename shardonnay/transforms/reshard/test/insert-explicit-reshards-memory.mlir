// RUN: sdy-opt %s --sdy-insert-explicit-reshards="enable-full-version=true device-model=bytes prices-memory=true" | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// To hold a quarter saves 96 bytes at a price of 2, and to gather it costs 96. What uses it
// follows. The price goes.
// CHECK-LABEL: func @dear
func.func @dear(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: %[[SHARDED:.*]] = sdy.reshard %arg0 <@mesh, [{"x", "y"}, {}]>
  // CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %[[SHARDED]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>}
  // CHECK-NEXT: %[[NEGATED:.*]] = stablehlo.negate %[[TANH]]
  // CHECK-NEXT: sdy.reshard %[[NEGATED]] <@mesh, [{"x"}, {}]>
  %0 = stablehlo.tanh %arg0 {sdy.memory_price = 2.0 : f64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @cheap
func.func @cheap(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK-NEXT: stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK-NEXT: stablehlo.negate
  // CHECK-NEXT: return
  %0 = stablehlo.tanh %arg0 {sdy.memory_price = 0.5 : f64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
