// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// CHECK-LABEL: func @combiners
func.func @combiners(%a: tensor<4x8xf32>, %s: tensor<f32>, %m: tensor<4x8xi1>, %t: tensor<i1>) {
  // CHECK: stablehlo.reduce({{.*}}<([i, j], [])->([i]) {i=4, j=8} reduction={j}>
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.reduce({{.*}}<([i, j], [])->([j]) {i=4, j=8} reduction={i}>
  %1 = stablehlo.reduce(%a init: %s) applies stablehlo.maximum across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK: stablehlo.reduce({{.*}}<([i, j], [])->([]) {i=4, j=8} reduction={i, j}>
  %2 = stablehlo.reduce(%a init: %s) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.reduce({{.*}} reduction={j}>
  %3 = stablehlo.reduce(%m init: %t) applies stablehlo.or across dimensions = [1] : (tensor<4x8xi1>, tensor<i1>) -> tensor<4xi1>
  // CHECK: stablehlo.reduce({{.*}} reduction={j}>
  %4 = stablehlo.reduce(%m init: %t) applies stablehlo.and across dimensions = [1] : (tensor<4x8xi1>, tensor<i1>) -> tensor<4xi1>
  return
}

// No all_reduce of these kinds: the dim is needed whole.
// CHECK-LABEL: func @other_combiners
func.func @other_combiners(%a: tensor<4x8xf32>, %s: tensor<f32>, %n: tensor<4x8xi32>, %t: tensor<i32>) {
  // CHECK: stablehlo.reduce({{.*}}<([i, j], [])->([i]) {i=4, j=8} need_replication={j}>
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.multiply across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.reduce({{.*}} need_replication={j}>
  %1 = stablehlo.reduce(%n init: %t) applies stablehlo.or across dimensions = [1] : (tensor<4x8xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK: stablehlo.reduce({{.*}}<([i, j], [])->([i]) {i=4, j=8} need_replication={j}>
  %2 = stablehlo.reduce(%a init: %s) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    reducer(%x: tensor<f32>, %y: tensor<f32>) {
      %3 = stablehlo.add %x, %x : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }
  return
}

// CHECK-LABEL: func @variadic
func.func @variadic(%a: tensor<4x8xf32>, %s: tensor<f32>, %n: tensor<4x8xi32>, %t: tensor<i32>) {
  // CHECK: stablehlo.reduce({{.*}}<([i, j], [i, j], [], [])->([i], [i]) {i=4, j=8} need_replication={j}>
  %0:2 = stablehlo.reduce(%a init: %s), (%n init: %t) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
    reducer(%x: tensor<f32>, %y: tensor<f32>) (%u: tensor<i32>, %v: tensor<i32>) {
      %1 = stablehlo.maximum %x, %y : tensor<f32>
      %2 = stablehlo.minimum %u, %v : tensor<i32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
    }
  return
}
