// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt -mlir-print-op-generic %s | sdy-opt | FileCheck %s

// CHECK-LABEL: func.func @short
func.func @short(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // CHECK: stablehlo.reduce(%{{[^ ]+}} init: %{{[^ ]+}}) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.reduce(%{{[^ ]+}} init: %{{[^ ]+}}) applies stablehlo.maximum across dimensions = [0, 1] {a = "b"} : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [0, 1] {a = "b"} : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @long
func.func @long(%x: tensor<4x8xf32>, %y: tensor<4x8xi32>, %c: tensor<f32>, %d: tensor<i32>) {
  // CHECK: stablehlo.reduce(%{{[^ ]+}} init: %{{[^ ]+}}), (%{{[^ ]+}} init: %{{[^ ]+}}) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  %0:2 = stablehlo.reduce(%x init: %c), (%y init: %d) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  // CHECK-NEXT: reducer(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>) (%{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>)  {
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
    // CHECK-NEXT: stablehlo.add %[[A]], %[[B]] : tensor<f32>
    %1 = stablehlo.add %a, %b : tensor<f32>
    // CHECK: stablehlo.or %{{[^ ]+}}, %{{[^ ]+}} : tensor<i32>
    %2 = stablehlo.or %i, %j : tensor<i32>
    // CHECK: stablehlo.return %{{[^ ]+}}, %{{[^ ]+}} : tensor<f32>, tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  return
}

// Bodies that the short form can't say.
// CHECK-LABEL: func.func @not_short
func.func @not_short(%x: tensor<4xf32>, %c: tensor<f32>, %h: tensor<4xbf16>, %d: tensor<bf16>) {
  // CHECK: stablehlo.reduce(%{{[^ ]+}} init: %{{[^ ]+}}) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: stablehlo.add %{{[^ ]+}}, %{{[^ ]+}} : tensor<f32>
    %1 = stablehlo.add %b, %a : tensor<f32>
    // CHECK: stablehlo.return %{{[^ ]+}} : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  // CHECK: stablehlo.reduce(%{{[^ ]+}} init: %{{[^ ]+}}) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: stablehlo.subtract %{{[^ ]+}}, %{{[^ ]+}} : tensor<f32>
    %3 = stablehlo.subtract %a, %b : tensor<f32>
    // CHECK: stablehlo.return %{{[^ ]+}} : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  // CHECK: stablehlo.reduce(%{{[^ ]+}} init: %{{[^ ]+}}) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %4 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: stablehlo.add %{{[^ ]+}}, %{{[^ ]+}} {a = "b"} : tensor<f32>
    %5 = stablehlo.add %a, %b {a = "b"} : tensor<f32>
    // CHECK: stablehlo.return %{{[^ ]+}} : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }
  // CHECK: stablehlo.reduce(%{{[^ ]+}} init: %{{[^ ]+}}) across dimensions = [0] : (tensor<4xbf16>, tensor<bf16>) -> tensor<f32>
  %6 = stablehlo.reduce(%h init: %d) across dimensions = [0] : (tensor<4xbf16>, tensor<bf16>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: stablehlo.add %{{[^ ]+}}, %{{[^ ]+}} : tensor<f32>
    %7 = stablehlo.add %a, %b : tensor<f32>
    // CHECK: stablehlo.return %{{[^ ]+}} : tensor<f32>
    stablehlo.return %7 : tensor<f32>
  }
  return
}
