// RUN: sdy-opt %s --split-input-file --sdy-convert-global-to-local --sdy-drop-sharding-and-mesh | FileCheck %s
// RUN: sdy-opt %s --split-input-file --sdy-convert-global-to-local | FileCheck %s --check-prefix=KEPT

sdy.mesh @mesh = <["x"=2, "y"=4]>

// What each device asks it is told.
// CHECK-LABEL: func @partition_id
// CHECK: stablehlo.partition_id
func.func @partition_id(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

// No call that only one engine knows.
// CHECK-LABEL: func @fft
// CHECK: %[[FFT:.*]] = stablehlo.fft
// CHECK-NEXT: return %[[FFT]]
func.func @fft(%a: tensor<8x16xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.fft %a, type = FFT, length = [16] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
  return %0 : tensor<8x16xcomplex<f32>>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @maximal_3 = <[], device_ids=[3]>

// A token comes from the one device; the others go on with what they had.
// CHECK-LABEL: func @token_of_one_device
// CHECK: %[[IF:.*]] = "stablehlo.if"
// CHECK: stablehlo.custom_call @dce_sink
// CHECK: stablehlo.return %arg1
// CHECK: return %[[IF]]
func.func @token_of_one_device(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = stablehlo.custom_call @dce_sink(%t) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal_3, []>]>} : (!stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Another tool takes an op that it has no rule for to agree with whatever it is given.
// CHECK-LABEL: func @operands_and_results_that_disagree(%arg0: tensor<4x8xf32>) -> tensor<8x4xf32>
// CHECK: %[[SQUARE:.*]] = chlo.square %arg0 : tensor<4x8xf32>
// CHECK: %[[MOVED:.*]] = "stablehlo.all_to_all"(%[[SQUARE]])
// CHECK: return %[[MOVED]]
func.func @operands_and_results_that_disagree(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = chlo.square %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x8xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Meshes and shardings stay until sdy-drop-sharding-and-mesh: those of the boundary, and of ops that are as they were but
// for their types.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @kept(%arg0: tensor<4xf32>) -> tensor<8xf32>
// KEPT: sdy.mesh @mesh = <["x"=2]>
// KEPT: func @kept(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
func.func @kept(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // CHECK-NEXT: stablehlo.negate %arg0 : tensor<4xf32>
  // KEPT-NEXT: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  // KEPT-NEXT: "stablehlo.all_gather"
  %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Functions that are on meshes of their own.
sdy.mesh @mesh = <["x"=8]>
sdy.mesh @other = <["z"=2, "w"=4]>
// CHECK-LABEL: func @on_one_mesh(%arg0: tensor<1x8xf32>) -> tensor<8x8xf32>
// CHECK: "stablehlo.all_gather"{{.*}} replica_groups = dense<{{\[\[}}0, 1, 2, 3, 4, 5, 6, 7]]>
func.func @on_one_mesh(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// CHECK-LABEL: func @on_another_mesh(%arg0: tensor<4x2xf32>) -> tensor<4x8xf32>
// CHECK: "stablehlo.all_gather"{{.*}} replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>
func.func @on_another_mesh(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@other, [{"z"}, {"w"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@other, [{"z"}, {}]>}) {
  %0 = sdy.all_gather [{}, {"w"}] %a out_sharding=<@other, [{"z"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
