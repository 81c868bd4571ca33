// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s
// RUN: sdy-opt -emit-bytecode %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @norm
func.func @norm(%a: tensor<4x6xf32>, %m: tensor<6xf32>) {
  // CHECK: "stablehlo.batch_norm_inference"(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %0 = "stablehlo.batch_norm_inference"(%a, %m, %m, %m, %m) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: "stablehlo.batch_norm_training"(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  %1:3 = "stablehlo.batch_norm_training"(%a, %m, %m) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  // CHECK: "stablehlo.batch_norm_grad"(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  %2:3 = "stablehlo.batch_norm_grad"(%a, %m, %m, %m, %a) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}

// CHECK-LABEL: func.func @unknown_sizes
func.func @unknown_sizes(%a: tensor<?x?xbf16>, %m: tensor<6xbf16>) {
  // CHECK: "stablehlo.batch_norm_training"(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<?x?xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> (tensor<4x6xbf16>, tensor<6xbf16>, tensor<?xbf16>)
  %0:3 = "stablehlo.batch_norm_training"(%a, %m, %m) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<?x?xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> (tensor<4x6xbf16>, tensor<6xbf16>, tensor<?xbf16>)
  return
}
