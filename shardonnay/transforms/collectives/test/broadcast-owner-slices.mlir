// RUN: sdy-opt %s --sdy-broadcast-owner-slices | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func @one_of_eight
func.func @one_of_eight(%arg0: tensor<8x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<1x4096xf32> {
  // CHECK-NEXT: %[[S:.*]] = stablehlo.slice %arg0 [3:4, 0:4096] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
  // CHECK-NEXT: %[[R:.*]] = sdy.all_reduce {"x"} %[[S]] out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: return %[[R]]
  %0 = stablehlo.slice %arg0 [3:4, 0:4096] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4096xf32>) -> tensor<1x4096xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<1x4096xf32>
  return %1 : tensor<1x4096xf32>
}

// Several positions may have several owners.
// CHECK-LABEL: func @two_of_eight
func.func @two_of_eight(%arg0: tensor<8x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<2x4096xf32> {
  // CHECK-NEXT: stablehlo.slice
  // CHECK-NEXT: sdy.all_gather
  %0 = stablehlo.slice %arg0 [3:5, 0:4096] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4096xf32>) -> tensor<2x4096xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<2x4096xf32>
  return %1 : tensor<2x4096xf32>
}
