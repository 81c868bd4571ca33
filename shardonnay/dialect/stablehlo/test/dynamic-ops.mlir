// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s
// RUN: sdy-opt -emit-bytecode %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @shapes
func.func @shapes(%a: tensor<4x6xf32>, %s: tensor<2xi32>, %s3: tensor<3xindex>, %n: tensor<i32>, %f: tensor<f32>, %i: tensor<3x2xi32>) {
  // CHECK: stablehlo.dynamic_broadcast_in_dim %{{[^ ,)]+}}, %{{[^ ,)]+}}, dims = [1, 2] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<3xindex>) -> tensor<?x?x?xf32>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s3, dims = [1, 2] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<3xindex>) -> tensor<?x?x?xf32>
  // CHECK: stablehlo.dynamic_reshape %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.dynamic_reshape %a, %s : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK: stablehlo.dynamic_pad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %2 = stablehlo.dynamic_pad %a, %f, %s, %s, %s : (tensor<4x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK: stablehlo.dynamic_iota %{{[^ ,)]+}}, dim = 1 : (tensor<2xi32>) -> tensor<?x?xf32>
  %3 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK: "stablehlo.dynamic_gather"(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3x2xi32>, tensor<2xi32>) -> tensor<3x?x?xf32>
  %4 = "stablehlo.dynamic_gather"(%a, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3x2xi32>, tensor<2xi32>) -> tensor<3x?x?xf32>
  // CHECK: stablehlo.real_dynamic_slice %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %5 = stablehlo.real_dynamic_slice %a, %s, %s, %s : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK: stablehlo.get_dimension_size %{{[^ ,)]+}}, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>
  %6 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>
  return
}

// CHECK-LABEL: func.func @bounds
func.func @bounds(%a: tensor<4x6xf32>, %b: tensor<?x6xf32, #stablehlo.bounds<4, ?>>, %n: tensor<i32>) {
  // CHECK: stablehlo.set_dimension_size %{{[^ ,)]+}}, %{{[^ ,)]+}}, dim = 1 : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 6>>
  %0 = stablehlo.set_dimension_size %a, %n, dim = 1 : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 6>>
  // CHECK: stablehlo.set_dimension_size %{{[^ ,)]+}}, %{{[^ ,)]+}}, dim = 1 : (tensor<?x6xf32, #stablehlo.bounds<4, ?>>, tensor<i32>) -> tensor<?x?xf32, #stablehlo.bounds<4, 6>>
  %1 = stablehlo.set_dimension_size %b, %n, dim = 1 : (tensor<?x6xf32, #stablehlo.bounds<4, ?>>, tensor<i32>) -> tensor<?x?xf32, #stablehlo.bounds<4, 6>>
  // CHECK: stablehlo.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x6xf32>, tensor<?x6xf32, #stablehlo.bounds<4, ?>>) -> tensor<?x?xf32>
  %2 = stablehlo.add %a, %b : (tensor<4x6xf32>, tensor<?x6xf32, #stablehlo.bounds<4, ?>>) -> tensor<?x?xf32>
  // CHECK: stablehlo.sine %{{[^ ,)]+}} : tensor<?x6xf32, #stablehlo.bounds<4, ?>>
  %3 = stablehlo.sine %b : tensor<?x6xf32, #stablehlo.bounds<4, ?>>
  // CHECK: stablehlo.transpose %{{[^ ,)]+}}, dims = [1, 0] : (tensor<?x6xf32, #stablehlo.bounds<4, ?>>) -> tensor<6x?xf32, #stablehlo.bounds<?, 4>>
  %4 = stablehlo.transpose %b, dims = [1, 0] : (tensor<?x6xf32, #stablehlo.bounds<4, ?>>) -> tensor<6x?xf32, #stablehlo.bounds<?, 4>>
  return
}
