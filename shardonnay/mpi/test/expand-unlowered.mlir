// RUN: sdy-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(sdy-expand-unlowered))" | FileCheck %s

// Indices are clamped: padding holds any.
// CHECK-LABEL: func @gather
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} outs(%{{.*}} : tensor<4x2xf32>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[AT:.*]] = tensor.extract %arg1[%[[I]], %c0{{.*}}] : tensor<4x1xindex>
// CHECK: %[[LAST:.*]] = arith.constant 7 : index
// CHECK: %[[LOW:.*]] = arith.minsi %[[AT]], %[[LAST]]
// CHECK: %[[ROW:.*]] = arith.maxsi %[[LOW]], %c0{{.*}}
// CHECK: tensor.extract %arg0[%[[ROW]], %[[J]]] : tensor<8x2xf32>
func.func @gather(%a: tensor<8x2xf32>, %i: tensor<4x1xindex>) -> tensor<4x2xf32> {
  %0 = tensor.gather %a[%i] gather_dims([0]) : (tensor<8x2xf32>, tensor<4x1xindex>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// The dims that are gathered are in the result, of size 1; none is there.
// CHECK-LABEL: func @dims_stay
// CHECK: outs(%{{.*}} : tensor<3x2x1xf32>)
// CHECK: tensor.extract %arg0[%{{.*}}, %{{.*}}] : tensor<2x8xf32>
// CHECK: tensor.empty() : tensor<3x2xf32>
// CHECK-NEXT: return
func.func @dims_stay(%a: tensor<2x8xf32>, %i: tensor<3x1xindex>, %none: tensor<0x2xf32>) -> (tensor<3x2x1xf32>, tensor<3x2xf32>) {
  %0 = tensor.gather %a[%i] gather_dims([1]) : (tensor<2x8xf32>, tensor<3x1xindex>) -> tensor<3x2x1xf32>
  %1 = tensor.gather %none[%i] gather_dims([0]) : (tensor<0x2xf32>, tensor<3x1xindex>) -> tensor<3x2xf32>
  return %0, %1 : tensor<3x2x1xf32>, tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func @rows
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x4xf32>)
// CHECK: tensor.extract %arg0[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<2x8x4xf32>
// CHECK: scf.for {{.*}} -> (tensor<2x8x4xf32>)
// CHECK: scf.for {{.*}} -> (tensor<2x8x4xf32>)
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}} [1, 1, 4] [1, 1, 1]
// CHECK-NOT: tosa
func.func @rows(%a: tensor<2x8x4xf32>, %i: tensor<2x3xi32>) -> tensor<2x8x4xf32> {
  %0 = tosa.gather %a, %i : (tensor<2x8x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
  %1 = tosa.scatter %a, %i, %0 : (tensor<2x8x4xf32>, tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<2x8x4xf32>
  return %1 : tensor<2x8x4xf32>
}

// -----

// CHECK-LABEL: func @tiles
// CHECK: tensor.pad %arg0 low[0, 0] high[1, 0]
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2, 3]] output_shape [2, 8, 5, 4]
// CHECK: linalg.transpose {{.*}} permutation = [2, 0, 3, 1]
// CHECK: linalg.transpose {{.*}} permutation = [1, 3, 0, 2]
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2, 3]] : tensor<2x8x5x4xf32> into tensor<16x20xf32>
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [15, 20] [1, 1]
func.func @tiles(%a: tensor<15x20xf32>, %value: f32) -> tensor<15x20xf32> {
  %e = tensor.empty() : tensor<5x2x4x8xf32>
  %0 = linalg.pack %a padding_value(%value : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 8] into %e : tensor<15x20xf32> -> tensor<5x2x4x8xf32>
  %f = tensor.empty() : tensor<15x20xf32>
  %1 = linalg.unpack %0 outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 8] into %f : tensor<5x2x4x8xf32> -> tensor<15x20xf32>
  return %1 : tensor<15x20xf32>
}

// -----

// CHECK-LABEL: func @softmax
// CHECK-NOT: linalg.softmax
// CHECK: math.exp
// CHECK: arith.divf
func.func @softmax(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
