// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-whole-boundary))" | FileCheck %s
// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-whole-boundary{results=false}))" | FileCheck %s --check-prefix=ARGS
// RUN: sdy-opt %s -pass-pipeline="builtin.module(func.func(sdy-whole-boundary{arguments=false}))" | FileCheck %s --check-prefix=RESULTS

sdy.mesh @mesh = <["x"=4, "y"=2]>

// CHECK-LABEL: func @both(
// CHECK-SAME: %arg0: tensor<8x4xf32>, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) -> tensor<8x4xf32> {
// CHECK-NEXT: %[[PIECE:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {}]>
// CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %[[PIECE]]
// CHECK-NEXT: %[[SHARDED:.*]] = sdy.reshard %[[TANH]] <@mesh, [{}, {"y"}]>
// CHECK-NEXT: %[[WHOLE:.*]] = sdy.reshard %[[SHARDED]] <@mesh, [{}, {}]>
// CHECK-NEXT: return %[[WHOLE]]

// ARGS-LABEL: func @both(
// ARGS-SAME: %arg0: tensor<8x4xf32>, {{.*}} -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
// ARGS-NEXT: sdy.reshard %arg0
// ARGS-NEXT: %[[TANH:.*]] = stablehlo.tanh
// ARGS-NEXT: return %[[TANH]]

// RESULTS-LABEL: func @both(
// RESULTS-SAME: %arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, {{.*}} -> tensor<8x4xf32> {
// RESULTS-NEXT: stablehlo.tanh %arg0
func.func @both(
    %arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// What the outside does not call stays.
// CHECK-LABEL: func private @helper(
// CHECK-SAME: sdy.sharding
func.func private @helper(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
