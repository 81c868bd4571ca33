// RUN: sdy-opt %s -sdy-check-supported | FileCheck %s

// CHECK: module attributes
module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  sdy.mesh @unused = <["x"=4], device_ids=[3, 2, 1, 0]>
  sdy.mesh @empty_mesh = <[]>
  func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<f32>, tensor<8xf32>) {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %1 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
    %2 = stablehlo.optimization_barrier %1 : tensor<8xf32>
    return %0, %2 : tensor<f32>, tensor<8xf32>
  }
}
