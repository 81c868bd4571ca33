// RUN: sdy-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(sdy-read-inits-as-inputs))" | FileCheck %s

// The second of two inits is read, behind an input.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[BOTH:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func @second
func.func @second(%row: tensor<2xf32>, %a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  // CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<3x2xf32>
  // CHECK-NEXT: linalg.generic {indexing_maps = [#[[ROW]], #[[TURNED]], #[[BOTH]], #[[TURNED]]], iterator_types = ["parallel", "parallel"]}
  // CHECK-SAME: ins(%arg0, %arg2 : tensor<2xf32>, tensor<3x2xf32>) outs(%arg1, %[[EMPTY]] : tensor<2x3xf32>, tensor<3x2xf32>)
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[READ:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
  // CHECK-NEXT:   %[[SUM:.*]] = arith.addf %[[X]], %[[READ]] : f32
  // CHECK-NEXT:   linalg.yield %[[X]], %[[SUM]] : f32, f32
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%row : tensor<2xf32>) outs(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32):
    %sum = arith.addf %x, %q : f32
    linalg.yield %x, %sum : f32, f32
  } -> (tensor<2x3xf32>, tensor<3x2xf32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<3x2xf32>
}

// -----

// Both are read.
// CHECK-LABEL: func @both
func.func @both(%a: tensor<2xf32>, %b: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  // CHECK-DAG: %[[A:.*]] = tensor.empty() : tensor<2xf32>
  // CHECK-DAG: %[[B:.*]] = tensor.empty() : tensor<2xi32>
  // CHECK: ins(%arg0, %arg1 : tensor<2xf32>, tensor<2xi32>) outs(%[[A]], %[[B]] : tensor<2xf32>, tensor<2xi32>)
  // CHECK-NEXT: ^bb0(%[[P:.*]]: f32, %[[Q:.*]]: i32, %{{.*}}: f32, %{{.*}}: i32):
  // CHECK-NEXT:   %[[NEW_P:.*]] = arith.negf %[[P]] : f32
  // CHECK-NEXT:   %[[NEW_Q:.*]] = arith.addi %[[Q]], %[[Q]] : i32
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%a, %b : tensor<2xf32>, tensor<2xi32>) {
  ^bb0(%p: f32, %q: i32):
    %x = arith.negf %p : f32
    %y = arith.addi %q, %q : i32
    linalg.yield %x, %y : f32, i32
  } -> (tensor<2xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}

// -----

// A reduction adds to what it writes to.
// CHECK-LABEL: func @sum
func.func @sum(%a: tensor<2xf32>, %start: tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: linalg.generic
  // CHECK-SAME: ins(%arg0 : tensor<2xf32>) outs(%arg1 : tensor<f32>)
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : tensor<2xf32>) outs(%start : tensor<f32>) {
  ^bb0(%p: f32, %q: f32):
    %x = arith.addf %p, %q : f32
    linalg.yield %x : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A diagonal leaves the rest of what it writes to as it is.
// CHECK-LABEL: func @diagonal
func.func @diagonal(%a: tensor<2xf32>, %start: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK-NEXT: linalg.generic
  // CHECK-SAME: ins(%arg0 : tensor<2xf32>) outs(%arg1 : tensor<2x2xf32>)
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<2xf32>) outs(%start : tensor<2x2xf32>) {
  ^bb0(%p: f32, %q: f32):
    %x = arith.addf %p, %q : f32
    linalg.yield %x : f32
  } -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
