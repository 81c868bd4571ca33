// RUN: sdy-opt %s --split-input-file --sdy-convert-global-to-local | FileCheck %s

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
