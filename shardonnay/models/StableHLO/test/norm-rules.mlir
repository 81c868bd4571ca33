// RUN: sdy-opt %s -split-input-file -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func.func @batch_norm_inference
// CHECK: #sdy.op_sharding_rule<([i, j], [j], [j], [j], [j])->([i, j]) {i=4, j=6}>
func.func @batch_norm_inference(%a: tensor<4x6xf32>, %m: tensor<6xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%a, %m, %m, %m, %m) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

// -----

// CHECK-LABEL: func.func @training
// CHECK: #sdy.op_sharding_rule<([i, j], [j], [j])->([i, j], [j], [j]) {i=4, j=6} need_replication={i}>
func.func @training(%a: tensor<4x6xf32>, %m: tensor<6xf32>) {
  %1:3 = "stablehlo.batch_norm_training"(%a, %m, %m) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @grad
// CHECK: #sdy.op_sharding_rule<([i, j], [j], [j], [j], [i, j])->([i, j], [j], [j]) {i=4, j=6} need_replication={i}>
func.func @grad(%a: tensor<4x6xf32>, %m: tensor<6xf32>) {
  %2:3 = "stablehlo.batch_norm_grad"(%a, %m, %m, %m, %a) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}
