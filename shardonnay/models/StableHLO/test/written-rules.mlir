// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true -sdy-reshard-to-collectives -sdy-partition-to-local | FileCheck %s

// A written rule does not change what an op with a rule of its own computes.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// A printed rule does not say that the reduction is a maximum.
// CHECK-LABEL: func.func @printed_rule
func.func @printed_rule(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %s: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: spmd.all_reduce max
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [])->([i]) {i=8, j=16} reduction={j}>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @custom_rule_of_a_reverse
func.func @custom_rule_of_a_reverse(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[WINDOW:.*]] = spmd.fetch_window %arg0 dim=0 global_size=8 start=4 step=-4 size=4 @mesh {"x"}
  // CHECK: stablehlo.reverse %[[WINDOW]], dims = [0] : tensor<4xf32>
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @custom_rule_that_keeps_dims_apart
func.func @custom_rule_that_keeps_dims_apart(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK: stablehlo.tanh %{{.*}} : tensor<4xf32>
  // CHECK: spmd.all_gather
  %0 = stablehlo.tanh %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=8, j=8}, custom>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A rule that is not the op's own is the user's, if it says so or not.
// CHECK-LABEL: func.func @whole_dim
func.func @whole_dim(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[WHOLE:.*]] = spmd.all_gather %arg0
  // CHECK: stablehlo.tanh %[[WHOLE]] : tensor<8xf32>
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} need_replication={i}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
