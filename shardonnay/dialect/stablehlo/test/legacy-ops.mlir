// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s
// RUN: sdy-opt -emit-bytecode %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @legacy
func.func @legacy(%a: tensor<4x6xf32>, %s: tensor<2xi32>) {
  // CHECK: stablehlo.einsum %{{[^ ,)]+}}, %{{[^ ,)]+}}, config = "ab,cb->ac" : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
  %0 = stablehlo.einsum %a, %a, config = "ab,cb->ac" : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.unary_einsum %{{[^ ,)]+}}, config = "ab->a" : (tensor<4x6xf32>) -> tensor<4xf32>
  %1 = stablehlo.unary_einsum %a, config = "ab->a" : (tensor<4x6xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.torch_index_select"(%{{[^ ,)]+}}, %{{[^ ,)]+}}) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<2x6xf32>
  %2 = "stablehlo.torch_index_select"(%a, %s) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<2x6xf32>
  // CHECK: stablehlo.broadcast %{{[^ ,)]+}}, sizes = [3] : (tensor<4x6xf32>) -> tensor<3x4x6xf32>
  %3 = stablehlo.broadcast %a, sizes = [3] : (tensor<4x6xf32>) -> tensor<3x4x6xf32>
  return
}
