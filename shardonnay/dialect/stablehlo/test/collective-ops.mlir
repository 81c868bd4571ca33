// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @device_index
func.func @device_index() {
  // CHECK: stablehlo.partition_id : tensor<ui32>
  %0 = stablehlo.partition_id : tensor<ui32>
  // CHECK: stablehlo.replica_id : tensor<ui32>
  %1 = stablehlo.replica_id : tensor<ui32>
  return
}

// CHECK-LABEL: func.func @combining
func.func @combining(%x: tensor<4x8xf32>) {
  // CHECK: "stablehlo.all_reduce"(%{{[^ ]+}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7{{\]\]}}> : tensor<2x4xi64>, use_global_device_ids}> ({
  %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // CHECK: stablehlo.add %{{[^ ]+}}, %{{[^ ]+}} : tensor<f32>
    %1 = stablehlo.add %a, %b : tensor<f32>
    // CHECK: stablehlo.return %{{[^ ]+}} : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.all_reduce"(%{{[^ ]+}}, %{{[^ ]+}}) <{replica_groups = dense<{{\[\[}}0, 1, 2], [3, -1, -1{{\]\]}}> : tensor<2x3xi64>}> ({
  %2:2 = "stablehlo.all_reduce"(%x, %x) <{replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // CHECK: stablehlo.maximum %{{[^ ]+}}, %{{[^ ]+}} : tensor<f32>
    %3 = stablehlo.maximum %a, %b : tensor<f32>
    // CHECK: stablehlo.return %{{[^ ]+}} : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  // CHECK: "stablehlo.reduce_scatter"(%{{[^ ]+}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3{{\]\]}}> : tensor<1x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
  %4 = "stablehlo.reduce_scatter"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // CHECK: stablehlo.add %{{[^ ]+}}, %{{[^ ]+}} : tensor<f32>
    %5 = stablehlo.add %a, %b : tensor<f32>
    // CHECK: stablehlo.return %{{[^ ]+}} : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x2xf32>
  return
}

// CHECK-LABEL: func.func @moving
func.func @moving(%x: tensor<4x8xf32>) {
  // CHECK: "stablehlo.all_gather"(%{{[^ ]+}}) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3{{\]\]}}> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x32xf32>
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x32xf32>
  // CHECK: "stablehlo.all_to_all"(%{{[^ ]+}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<{{\[\[}}0, 1, 2, 3{{\]\]}}> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<16x2xf32>
  %1 = "stablehlo.all_to_all"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<16x2xf32>
  // CHECK: "stablehlo.collective_permute"(%{{[^ ]+}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1], [1, 0{{\]\]}}> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
