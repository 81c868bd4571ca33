// RUN: sdy-opt %s --sdy-partition-pipeline | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// No device finds the best of its own positions: they are gathered. The batch
// stays sharded, and the function that compares stays.
// CHECK: func{{.*}} @greater
// CHECK-LABEL: func public @main
// CHECK-SAME: %arg0: tensor<4x4xf32>
// CHECK: %[[ALL:.*]] = "stablehlo.all_gather"(%arg0) {{.*}} -> tensor<4x16xf32>
// CHECK: custom_call @ApproxTopK(%[[ALL]], {{.*}}called_computations = [@greater]{{.*}} -> (tensor<4x2xf32>, tensor<4x2xi32>)
// CHECK: custom_call @MoveToHost({{.*}} : (tensor<4x2xf32>) -> tensor<4x2xf32>
func.func public @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x2xf32> {
  %i = stablehlo.iota dim = 1 : tensor<8x16xi32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %least, %none) {called_computations = [@greater], mhlo.backend_config = {aggregate_to_topk = true, reduction_dim = 1 : i64, top_k = 2 : i64}} : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  %1 = stablehlo.custom_call @MoveToHost(%0#0) : (tensor<8x2xf32>) -> tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
