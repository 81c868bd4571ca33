// RUN: sdy-opt %s --sdy-per-instruction-partitioning=filter=stablehlo.reverse,stablehlo.dot_general | FileCheck %s
// RUN: sdy-opt %s --sdy-per-instruction-partitioning="filter=stablehlo.reverse enable-halo-exchange=false" | FileCheck %s --check-prefix=WHOLE
// RUN: sdy-opt %s --sdy-per-instruction-partitioning | FileCheck %s --check-prefix=ALL
// RUN: sdy-opt %s --sdy-per-instruction-partitioning=filter=negate,0 | FileCheck %s --check-prefix=BARE
// RUN: sdy-opt %s --sdy-per-instruction-partitioning=filter=1-2 | FileCheck %s --check-prefix=NUMBERS
// RUN: not sdy-opt %s --sdy-per-instruction-partitioning=filter=3-1 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: filter: expected names of operations, or numbers such as 3 or 2-5, got '3-1'

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @some
// WHOLE-LABEL: func @some
// ALL-LABEL: func @some
// BARE-LABEL: func @some
// BARE: stablehlo.reverse {{.*}} : tensor<2x4xf32>
// BARE: stablehlo.dot_general {{.*}} -> tensor<8x4xf32>
// BARE: stablehlo.negate {{.*}} : tensor<2x4xf32>
// NUMBERS-LABEL: func @some
// NUMBERS: stablehlo.reverse {{.*}} : tensor<8x8xf32>
// NUMBERS: stablehlo.dot_general {{.*}} -> tensor<2x4xf32>
// NUMBERS: stablehlo.negate {{.*}} : tensor<2x4xf32>
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

// Local shards of two sizes are no manual computation's: they become equal.
// ALL-LABEL: func @uneven
// ALL: %[[PADDED:.*]] = stablehlo.pad %arg0, {{.*}} high = [2], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<10xf32>, tensor<f32>) -> tensor<12xf32>
// ALL: %[[ALONE:.*]] = sdy.manual_computation(%[[PADDED]])
// ALL: stablehlo.negate {{.*}} : tensor<3xf32>
// ALL: %[[RESULT:.*]] = stablehlo.slice %[[ALONE]] [0:10]
// ALL: return %[[RESULT]]
func.func @uneven(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<10xf32>
  return %0 : tensor<10xf32>
}

// ALL-LABEL: func @constants_and_reshards
// ALL: sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"x"}, {}]>]
// ALL: stablehlo.constant
// ALL: sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {"x"}]>]
// ALL-NEXT: "stablehlo.all_to_all"
// ALL: sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{}, {}]>]
// ALL-NEXT: "stablehlo.all_gather"
// ALL-NOT: sdy.reshard
func.func @constants_and_reshards() -> tensor<4x4xf32> {
  %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} dense<1.0> : tensor<4x4xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<4x4xf32>
  %2 = sdy.all_gather [{}, {"x"}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// Partial values are no manual computation's either.
// ALL-LABEL: func @partial
// ALL-NEXT: stablehlo.negate %arg0 {{.*}} : tensor<8xf32>
func.func @partial(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}], unreduced={"x"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}], unreduced={"x"}>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}], unreduced={"x"}>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
