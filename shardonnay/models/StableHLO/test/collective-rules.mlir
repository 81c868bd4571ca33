// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @the_same_dims
func.func @the_same_dims(%a: tensor<4x16xf32>, %b: tensor<4x16xf32>) {
  // CHECK: "stablehlo.all_reduce"(%arg0, %arg1)
  // CHECK: <([i, j], [i, j])->([i, j], [i, j]) {i=4, j=16}>
  %0:2 = "stablehlo.all_reduce"(%a, %b) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4x16xf32>, tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>)
  // CHECK: "stablehlo.collective_permute"{{.*}}<([i, j])->([i, j]) {i=4, j=16}>
  %1 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  // CHECK: "stablehlo.collective_broadcast"{{.*}}<([i, j])->([i, j]) {i=4, j=16}>
  %2 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func @exchanged_dims
func.func @exchanged_dims(%a: tensor<4x16xf32>) {
  // CHECK: "stablehlo.all_gather"{{.*}}<([j, i])->([k, i]) {i=16, j=4, k=8} need_replication={j, k}>
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x16xf32>) -> tensor<8x16xf32>
  // CHECK: "stablehlo.reduce_scatter"
  // CHECK: <([i, j])->([i, k]) {i=4, j=16, k=8} need_replication={j, k}>
  %1 = "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4x16xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.all_to_all"{{.*}}<([k, i])->([l, j]) {i=16, j=8, k=4, l=8} need_replication={i, j, k, l}>
  %2 = "stablehlo.all_to_all"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x16xf32>) -> tensor<8x8xf32>
  // CHECK: "stablehlo.all_to_all"{{.*}}<([i, j])->([i, k]) {i=4, j=16, k=16} need_replication={j, k}>
  %3 = "stablehlo.all_to_all"(%a) <{split_dimension = 1 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func @started
func.func @started(%a: tensor<4x16xf32>) {
  // CHECK: @"all-gather-start"{{.*}}<([j, i])->([k, i]) {i=16, j=4, k=8} need_replication={j, k}>
  %0 = stablehlo.custom_call @"all-gather-start"(%a) {mhlo.frontend_attributes = {async_collective_config = "{\22all_gather_dimension\22: 0, \22replica_groups\22: [[0, 1]]}"}} : (tensor<4x16xf32>) -> tensor<8x16xf32>
  // CHECK: @"all-gather-start"{{.*}}<([i, j])->([i, k]) {i=4, j=16, k=32} need_replication={j, k}>
  %1 = stablehlo.custom_call @"all-gather-start"(%a) {mhlo.frontend_attributes = {async_collective_config = "{\22all_gather_dimension\22: 1, \22replica_groups\22: [[0, 1]]}"}} : (tensor<4x16xf32>) -> tensor<4x32xf32>
  // CHECK: @"all-gather-done"{{.*}}<([i, j])->([i, j]) {i=4, j=32}>
  %2 = stablehlo.custom_call @"all-gather-done"(%1) : (tensor<4x32xf32>) -> tensor<4x32xf32>
  // CHECK: @"collective-permute-start"{{.*}}<([i, j])->([i, j]) {i=4, j=16}>
  %3 = stablehlo.custom_call @"collective-permute-start"(%a) {mhlo.frontend_attributes = {async_collective_config = "{\22permutation\22: [[0, 1], [1, 0]]}"}} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  // CHECK: @"all-to-all-start"{{.*}}<([k, i])->([l, j]) {i=16, j=8, k=4, l=8} need_replication={i, j, k, l}>
  %4 = stablehlo.custom_call @"all-to-all-start"(%a) {mhlo.frontend_attributes = {async_collective_config = "{\22split_dimension\22: 1, \22concat_dimension\22: 0, \22split_count\22: 2, \22replica_groups\22: [[0, 1]]}"}} : (tensor<4x16xf32>) -> tensor<8x8xf32>
  return
}

// What can't be read is a call like others.
// CHECK-LABEL: func @unreadable
func.func @unreadable(%a: tensor<4x16xf32>) {
  // CHECK-NOT: sdy.sharding_rule
  %0 = stablehlo.custom_call @"all-gather-start"(%a) {mhlo.frontend_attributes = {async_collective_config = "{\22all_gather_dimension\22: 7}"}} : (tensor<4x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.custom_call @"all-gather-start"(%a) {mhlo.frontend_attributes = {async_collective_config = "{"}} : (tensor<4x16xf32>) -> tensor<8x16xf32>
  %2 = stablehlo.custom_call @"all-gather-start"(%a) : (tensor<4x16xf32>) -> tensor<8x16xf32>
  return
}
