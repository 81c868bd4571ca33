// RUN: sdy-opt %s --sdy-per-instruction-partitioning=filter=stablehlo.reverse,stablehlo.dot_general | FileCheck %s
// RUN: sdy-opt %s --sdy-per-instruction-partitioning="filter=stablehlo.reverse enable-halo-exchange=false" | FileCheck %s --check-prefix=WHOLE
// RUN: sdy-opt %s --sdy-per-instruction-partitioning | FileCheck %s --check-prefix=ALL

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @some
// WHOLE-LABEL: func @some
// ALL-LABEL: func @some
func.func @some(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
    %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK-NEXT: %[[REVERSE:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"y"}, {"x"}]>] out_shardings=[<@mesh, [{"y"}, {"x"}]>] manual_axes={"x", "y"} (%arg2: tensor<2x4xf32>) {
  // CHECK-NEXT:   "stablehlo.collective_permute"(%arg2)
  // CHECK-NEXT:   stablehlo.reverse
  // CHECK-NEXT:   sdy.return
  // WHOLE: "stablehlo.all_gather"
  // WHOLE: stablehlo.reverse {{.*}} : tensor<8x4xf32>
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : tensor<8x8xf32>
  // CHECK: sdy.manual_computation(%[[REVERSE]], %arg1) in_shardings=[<@mesh, [{"y"}, {"x"}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>]
  // CHECK:   stablehlo.dot_general {{.*}} -> tensor<2x4xf32>
  // CHECK:   "stablehlo.all_reduce"
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // Not selected.
  // CHECK: stablehlo.negate {{.*}} : tensor<8x4xf32>
  // ALL: stablehlo.negate {{.*}} : tensor<2x4xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// Pieces of two sizes are no manual computation's.
// ALL-LABEL: func @uneven
// ALL-NEXT: stablehlo.negate {{.*}} : tensor<10xf32>
func.func @uneven(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<10xf32>
  return %0 : tensor<10xf32>
}
