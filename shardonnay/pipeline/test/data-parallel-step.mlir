// RUN: sdy-opt %s --sdy-partition-pipeline | FileCheck %s

// A data-parallel step: one all_reduce over "data" for each gradient.

// CHECK-NOT: "stablehlo.{{all_gather|all_to_all|reduce_scatter|collective_permute|all_reduce}}"
// CHECK: "stablehlo.all_reduce"{{.*}}replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
// CHECK-NOT: "stablehlo.{{all_gather|all_to_all|reduce_scatter|collective_permute|all_reduce}}"
// CHECK: "stablehlo.all_reduce"{{.*}}replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
// CHECK-NOT: "stablehlo.{{all_gather|all_to_all|reduce_scatter|collective_permute|all_reduce}}"

module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg2: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<8x32xf32>
    %3 = stablehlo.compare EQ, %0, %2, FLOAT : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xi1>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %6 = stablehlo.select %3, %4, %5 : tensor<8x32xi1>, tensor<8x32xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %8 = stablehlo.compare EQ, %7, %2, FLOAT : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xi1>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %11 = stablehlo.select %8, %9, %10 : tensor<8x32xi1>, tensor<8x32xf32>
    %12 = stablehlo.divide %6, %11 : tensor<8x32xf32>
    %13 = stablehlo.dot_general %2, %arg1, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %15 = stablehlo.multiply %14, %13 : tensor<8x16xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %17 = stablehlo.multiply %16, %15 : tensor<8x16xf32>
    %18 = stablehlo.dot_general %17, %2, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
    %19 = stablehlo.transpose %18, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %20 = stablehlo.dot_general %17, %arg1, contracting_dims = [1] x [1] : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>
    %21 = stablehlo.multiply %20, %12 : tensor<8x32xf32>
    %22 = stablehlo.dot_general %21, %arg2, contracting_dims = [0] x [0] : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
    %23 = stablehlo.transpose %22, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %cst_7 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %25 = stablehlo.multiply %24, %23 : tensor<16x32xf32>
    %26 = stablehlo.subtract %arg0, %25 : tensor<16x32xf32>
    %cst_8 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %28 = stablehlo.multiply %27, %19 : tensor<32x16xf32>
    %29 = stablehlo.subtract %arg1, %28 : tensor<32x16xf32>
    return %26, %29 : tensor<16x32xf32>, tensor<32x16xf32>
  }
}
