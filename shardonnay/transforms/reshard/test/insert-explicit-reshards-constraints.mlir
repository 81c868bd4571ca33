// RUN: sdy-opt %s --sdy-insert-explicit-reshards='enable-full-version=true device-model=bytes' | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// Hidden units of experts that are constrained by tokens. Where they are
// multiplied the second ones are needed by experts, as they are made: they are
// not moved to the tokens' devices and back.
// CHECK-LABEL: func @nothing_reads_it_so
func.func @nothing_reads_it_so(%arg0: tensor<8x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %arg1: tensor<8x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg2: tensor<8x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<8x16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
  // CHECK: %[[TOKENS:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {}, {}]>
  // CHECK: %[[H2:.*]] = stablehlo.dot_general %[[TOKENS]], %arg2,{{.*}}[{"x"}, {}, {}]
  // CHECK-NEXT: sdy.reshard %[[H2]] <@mesh, [{"x"}, {}, {}]>
  // CHECK-NOT: sdy.reshard %[[H2]]
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<8x16x32xf32>, tensor<8x32x64xf32>) -> tensor<8x16x64xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}, {}]> : tensor<8x16x64xf32>
  %2 = stablehlo.dot_general %arg0, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<8x16x32xf32>, tensor<8x32x64xf32>) -> tensor<8x16x64xf32>
  %3 = sdy.reshard %2 <@mesh, [{}, {"x"}, {}]> : tensor<8x16x64xf32>
  %4 = stablehlo.logistic %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : tensor<8x16x64xf32>
  %5 = stablehlo.multiply %1, %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : tensor<8x16x64xf32>
  %6 = stablehlo.multiply %5, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : tensor<8x16x64xf32>
  return %6 : tensor<8x16x64xf32>
}

// The constraint stays where something reads it as it is constrained.
// CHECK-LABEL: func @something_reads_it_so
func.func @something_reads_it_so(%arg0: tensor<8x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %arg1: tensor<8x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg2: tensor<8x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<8x16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, tensor<8x16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  // CHECK: %[[H2:.*]] = stablehlo.dot_general %{{.*}}, %arg2,
  // CHECK-NEXT: %[[SECOND:.*]] = sdy.reshard %[[H2]] <@mesh, [{}, {"x"}, {}]>
  // CHECK: return %{{.*}}, %[[SECOND]]
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<8x16x32xf32>, tensor<8x32x64xf32>) -> tensor<8x16x64xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}, {}]> : tensor<8x16x64xf32>
  %2 = stablehlo.dot_general %arg0, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<8x16x32xf32>, tensor<8x32x64xf32>) -> tensor<8x16x64xf32>
  %3 = sdy.reshard %2 <@mesh, [{}, {"x"}, {}]> : tensor<8x16x64xf32>
  %4 = stablehlo.logistic %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : tensor<8x16x64xf32>
  %5 = stablehlo.multiply %1, %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : tensor<8x16x64xf32>
  %6 = stablehlo.multiply %5, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : tensor<8x16x64xf32>
  return %6, %3 : tensor<8x16x64xf32>, tensor<8x16x64xf32>
}

// In fewer shards it is not asked for of what makes it: that would be computed
// by more devices than one, or gathered earlier.
// CHECK-LABEL: func @fewer_shards
func.func @fewer_shards(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // CHECK: %[[TANH:.*]] = stablehlo.tanh %arg0 {{.*}}[{}, {"x"}]
  // CHECK-NEXT: sdy.reshard %[[TANH]] <@mesh, [{"x"}, {}]>
  %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x16xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
