// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(sdy-mark-partial-results))' | FileCheck %s

// As other tools write what their reshard step makes: the collective says it, not the result.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @collective_behind
// CHECK: %[[DOT:.*]] = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>}
// CHECK: %[[SUM:.*]] = sdy.all_reduce {"y"} %[[DOT]] out_sharding=<@mesh, [{"x"}, {}]>
// CHECK: return %[[SUM]]
func.func @collective_behind(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Maxima are not added.
// CHECK-LABEL: func @kind
// CHECK: stablehlo.reduce{{.*}}unreduced=max{"y"}
// CHECK: sdy.all_reduce max {"y"}
// CHECK: sdy.reduce_scatter max [{"y"}]
func.func @kind(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %m = sdy.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %m) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = sdy.reduce_scatter [{"y"}] %0 out_sharding=<@mesh, [{"y"}]> : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// Else the result is what its sharding says.
// CHECK-LABEL: func @nothing_behind
// CHECK: %[[DOT:.*]] = stablehlo.dot {{.*}}unreduced={"y"}
// CHECK: %[[SUM:.*]] = sdy.all_reduce {"y"} %[[DOT]] out_sharding=<@mesh, [{}, {}]>
// CHECK: return %[[SUM]], %[[SUM]]
func.func @nothing_behind(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}

// No sharding is that of a replicated value.
// CHECK-LABEL: func @without_sharding
// CHECK: %[[DOT:.*]] = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>}
// CHECK: sdy.all_reduce {"y"} %[[DOT]] out_sharding=<@mesh, [{}, {}]>
func.func @without_sharding(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// What is marked stays.
// CHECK-LABEL: func @marked
// CHECK: %[[DOT:.*]] = stablehlo.dot {{.*}}unreduced={"y"}
// CHECK-NEXT: return %[[DOT]]
func.func @marked(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
