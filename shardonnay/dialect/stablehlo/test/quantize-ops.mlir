// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s
// RUN: sdy-opt -emit-bytecode %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @quantize
func.func @quantize(%a: tensor<4x6xf32>) {
  // CHECK: stablehlo.uniform_quantize %{{[^ ,)]+}} : (tensor<4x6xf32>) -> tensor<4x6x!quant.uniform<i8:f32, 1.000000e+00:17>>
  %0 = stablehlo.uniform_quantize %a : (tensor<4x6xf32>) -> tensor<4x6x!quant.uniform<i8:f32, 1.000000e+00:17>>
  // CHECK: stablehlo.uniform_dequantize %{{[^ ,)]+}} : (tensor<4x6x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<4x6xf32>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<4x6x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<4x6xf32>
  // CHECK: stablehlo.uniform_quantize %{{[^ ,)]+}} : (tensor<4x6x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<4x6x!quant.uniform<i16:f32:0, {1.000000e-01,2.000000e-01:3,4.000000e+00,1.000000e+00}>>
  %2 = stablehlo.uniform_quantize %0 : (tensor<4x6x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<4x6x!quant.uniform<i16:f32:0, {1.000000e-01,2.000000e-01:3,4.000000e+00,1.000000e+00}>>
  // CHECK: stablehlo.uniform_dequantize %{{[^ ,)]+}} : (tensor<4x6x!quant.uniform<i16:f32:0, {1.000000e-01,2.000000e-01:3,4.000000e+00,1.000000e+00}>>) -> tensor<4x6xf32>
  %3 = stablehlo.uniform_dequantize %2 : (tensor<4x6x!quant.uniform<i16:f32:0, {1.000000e-01,2.000000e-01:3,4.000000e+00,1.000000e+00}>>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @per_tensor
func.func @per_tensor(%a: tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>, %b: tensor<2x3x!quant.uniform<i8:f32, 2.000000e+00>>, %p: tensor<2x3xi1>) {
  // CHECK: stablehlo.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>, tensor<2x3x!quant.uniform<i8:f32, 2.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 2.000000e+00>>
  %0 = stablehlo.add %a, %b : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>, tensor<2x3x!quant.uniform<i8:f32, 2.000000e+00>>) -> tensor<2x3x!quant.uniform<i8:f32, 2.000000e+00>>
  // CHECK: stablehlo.floor %{{[^ ,)]+}} : tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>
  %1 = stablehlo.floor %a : tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>
  // CHECK: stablehlo.tanh %{{[^ ,)]+}} : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<2x3x!quant.uniform<i8:f32, 2.000000e+00>>
  %2 = stablehlo.tanh %a : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<2x3x!quant.uniform<i8:f32, 2.000000e+00>>
  // CHECK: stablehlo.reshape %{{[^ ,)]+}} : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<6x!quant.uniform<i8:f32, 1.000000e+00:17>>
  %3 = stablehlo.reshape %a : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<6x!quant.uniform<i8:f32, 1.000000e+00:17>>
  // CHECK: stablehlo.select %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<2x3xi1>, tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>
  %4 = stablehlo.select %p, %a, %a : tensor<2x3xi1>, tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>
  // CHECK: stablehlo.compare EQ, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>, tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<2x3xi1>
  %5 = stablehlo.compare EQ, %a, %a : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>, tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<2x3xi1>
  // CHECK: stablehlo.bitcast_convert %{{[^ ,)]+}} : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<2x3xi8>
  %6 = stablehlo.bitcast_convert %a : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<2x3xi8>
  return
}

// CHECK-LABEL: func.func @per_axis
func.func @per_axis(%a: tensor<2x3x!quant.uniform<i8:f32:1, {1.000000e-01,2.000000e-01,3.000000e-01}>>) {
  // CHECK: stablehlo.transpose %{{[^ ,)]+}}, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32:1, {1.000000e-01,2.000000e-01,3.000000e-01}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {1.000000e-01,2.000000e-01,3.000000e-01}>>
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32:1, {1.000000e-01,2.000000e-01,3.000000e-01}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {1.000000e-01,2.000000e-01,3.000000e-01}>>
  // CHECK: stablehlo.broadcast_in_dim %{{[^ ,)]+}}, dims = [1, 2] : (tensor<2x3x!quant.uniform<i8:f32:1, {1.000000e-01,2.000000e-01,3.000000e-01}>>) -> tensor<4x2x3x!quant.uniform<i8:f32:2, {1.000000e-01,2.000000e-01,3.000000e-01}>>
  %1 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<2x3x!quant.uniform<i8:f32:1, {1.000000e-01,2.000000e-01,3.000000e-01}>>) -> tensor<4x2x3x!quant.uniform<i8:f32:2, {1.000000e-01,2.000000e-01,3.000000e-01}>>
  return
}
