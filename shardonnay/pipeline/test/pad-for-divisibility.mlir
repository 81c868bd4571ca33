// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-pad-for-divisibility))" | FileCheck %s --check-prefix=GLOBAL
// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-pad-for-divisibility{pad=true}))" | FileCheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Element-wise ops are on the padded tensor; slices and pads between them are gone.
// CHECK-LABEL: func @chain
// GLOBAL-LABEL: func @chain
func.func @chain(%arg0: tensor<10xf32>) -> tensor<10xf32> {
  // CHECK-NEXT: %[[SHARD:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x", "y"} (%{{.*}}: tensor<10xf32>) {
  // CHECK:      } : (tensor<10xf32>) -> tensor<12xf32>
  // CHECK-NEXT: %[[NEG:.*]] = stablehlo.negate %[[SHARD]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<12xf32>
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[NEG]], %[[SHARD]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<12xf32>
  // CHECK-NEXT: %[[WHOLE:.*]] = sdy.manual_computation(%[[SUM]]) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>]
  // CHECK:        "stablehlo.all_gather"
  // CHECK:      } : (tensor<12xf32>) -> tensor<10xf32>
  // CHECK-NEXT: return %[[WHOLE]]
  // GLOBAL: sdy.all_slice
  // GLOBAL-NEXT: stablehlo.negate {{.*}} : tensor<10xf32>
  %0 = sdy.all_slice [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<10xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<10xf32>
  %2 = stablehlo.add %1, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<10xf32>
  %3 = sdy.all_gather [{"x"}] %2 out_sharding=<@mesh, [{}]> : tensor<10xf32>
  return %3 : tensor<10xf32>
}

// What stands behind the end does not count in a sum, which stays partial.
// CHECK-LABEL: func @sum
func.func @sum(%arg0: tensor<10xf32>) -> tensor<f32> {
  // CHECK: sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{"x"}]>, <@mesh, []>] out_shardings=[<@mesh, [], unreduced={"x"}>] manual_axes={"x", "y"} (%{{.*}}: tensor<3xf32>, %{{.*}}: tensor<f32>) {
  // CHECK:   stablehlo.select
  // CHECK:   stablehlo.reduce
  // CHECK: sdy.all_reduce {"x"}
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = sdy.all_slice [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<10xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"x"}>]>} : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
  %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, []> : tensor<f32>
  return %2 : tensor<f32>
}

// Axes that divide: nothing to do.
// CHECK-LABEL: func @even
// CHECK-NEXT: stablehlo.negate %arg0 {{.*}} : tensor<8xf32>
func.func @even(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
