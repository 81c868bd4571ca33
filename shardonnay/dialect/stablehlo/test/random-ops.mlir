// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @rng
// CHECK: %{{[^ ,:)]+}} = stablehlo.rng %{{[^ ,:)]+}}, %{{[^ ,:)]+}}, %{{[^ ,:)]+}}, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<?x3xf32>
// CHECK: %{{[^ ,:)]+}} = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
// CHECK: %{{[^ ,:)]+}} = stablehlo.rng %{{[^ ,:)]+}}, %{{[^ ,:)]+}}, %{{[^ ,:)]+}}, distribution = NORMAL {foo} : (tensor<f32>, tensor<f32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %{{[^ ,:)]+}}, %{{[^ ,:)]+}} = stablehlo.rng_bit_generator %{{[^ ,:)]+}}, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x4xui32>)
// CHECK: %{{[^ ,:)]+}}, %{{[^ ,:)]+}} = stablehlo.rng_bit_generator %{{[^ ,:)]+}}, algorithm = DEFAULT {foo} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x4xui32>)
// CHECK: return
func.func @rng(%a: tensor<f32>, %s: tensor<2xi64>, %t: tensor<2xui64>) {
  %0 = stablehlo.rng %a, %a, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<?x3xf32>
  %c = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %1 = stablehlo.rng %a, %a, %c, distribution = NORMAL {foo} : (tensor<f32>, tensor<f32>, tensor<2xi32>) -> tensor<2x3xf32>
  %2:2 = stablehlo.rng_bit_generator %t, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x4xui32>)
  %3:2 = stablehlo.rng_bit_generator %t, algorithm = DEFAULT {foo} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x4xui32>)
  return
}

// CHECK-LABEL: func.func @names
// CHECK: %output_state, %output = stablehlo.rng_bit_generator
func.func @names(%t: tensor<2xui64>) {
  %0:2 = stablehlo.rng_bit_generator %t, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x4xui32>)
  return
}
