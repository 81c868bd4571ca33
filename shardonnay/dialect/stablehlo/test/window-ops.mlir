// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s
// RUN: sdy-opt -emit-bytecode %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce_window
func.func @reduce_window(%a: tensor<4x6xf32>, %c: tensor<f32>) {
  // CHECK: "stablehlo.reduce_window"(%{{[^ ,)]+}}, %{{[^ ,)]+}}) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  %0 = "stablehlo.reduce_window"(%a, %c) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    // CHECK: stablehlo.maximum %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<f32>
    %1 = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  // CHECK: }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x3xf32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @variadic
func.func @variadic(%a: tensor<4x6xf32>, %b: tensor<4x6xi32>, %c: tensor<f32>, %d: tensor<i32>) {
  // CHECK: "stablehlo.reduce_window"(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}) <{base_dilations = array<i64: 2, 1>, padding = dense<{{\[\[}}1, 0], [0, -1{{\]\]}}> : tensor<2x2xi64>, window_dilations = array<i64: 1, 3>, window_dimensions = array<i64: 3, 2>}> ({
  %0:2 = "stablehlo.reduce_window"(%a, %b, %c, %d) <{base_dilations = array<i64: 2, 1>, padding = dense<[[1, 0], [0, -1]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 3>, window_dimensions = array<i64: 3, 2>}> ({
  ^bb0(%x: tensor<f32>, %p: tensor<i32>, %y: tensor<f32>, %q: tensor<i32>):
    // CHECK: stablehlo.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<f32>
    %1 = stablehlo.add %x, %y : tensor<f32>
    // CHECK: stablehlo.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<i32>
    %2 = stablehlo.add %p, %q : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  // CHECK: }) : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<6x2xf32>, tensor<6x2xi32>)
  }) : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<6x2xf32>, tensor<6x2xi32>)
  return
}

// CHECK-LABEL: func.func @wider
func.func @wider(%a: tensor<4x?xbf16>, %c: tensor<f32>) {
  // CHECK: "stablehlo.reduce_window"(%{{[^ ,)]+}}, %{{[^ ,)]+}}) <{window_dimensions = array<i64: 1, 2>}> ({
  %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    // CHECK: stablehlo.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<f32>
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  // CHECK: }) : (tensor<4x?xbf16>, tensor<f32>) -> tensor<4x?xf32>
  }) : (tensor<4x?xbf16>, tensor<f32>) -> tensor<4x?xf32>
  return
}

// CHECK-LABEL: func.func @select_and_scatter
func.func @select_and_scatter(%a: tensor<4x6xf32>, %s: tensor<2x3xf32>, %c: tensor<f32>) {
  // CHECK: "stablehlo.select_and_scatter"(%{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  %0 = "stablehlo.select_and_scatter"(%a, %s, %c) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    // CHECK: stablehlo.compare GE, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    // CHECK: stablehlo.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<f32>
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  // CHECK: }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}
