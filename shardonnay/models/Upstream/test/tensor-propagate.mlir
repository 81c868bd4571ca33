// RUN: sdy-opt %s -sdy-user-priority-propagate | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @collapse
// CHECK: tensor.collapse_shape {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y", ?}, {?}]>]>}
func.func @collapse(%arg0: tensor<2x8x1x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}, {}]>}) -> tensor<16x3xf32> {
  %0 = tensor.collapse_shape %arg0 [[0, 1], [2, 3]] : tensor<2x8x1x3xf32> into tensor<16x3xf32>
  return %0 : tensor<16x3xf32>
}

// CHECK-LABEL: func @expand
// CHECK: tensor.expand_shape {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y":(1)2, ?}, {"y":(2)2, ?}, {?}]>]>}
func.func @expand(%arg0: tensor<16x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<2x8x3xf32> {
  %0 = tensor.expand_shape %arg0 [[0, 1], [2]] output_shape [2, 8, 3] : tensor<16x3xf32> into tensor<2x8x3xf32>
  return %0 : tensor<2x8x3xf32>
}

// The source, which has no second dim, is inserted where the destination is.
// CHECK-LABEL: func @insert
// CHECK-SAME: %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}
func.func @insert(%arg0: tensor<8x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg1: tensor<8x4xf32>, %at: index) -> tensor<8x16x4xf32> {
  %0 = tensor.insert_slice %arg1 into %arg0[0, %at, 0] [8, 1, 4] [1, 1, 1] : tensor<8x4xf32> into tensor<8x16x4xf32>
  return %0 : tensor<8x16x4xf32>
}

// CHECK-LABEL: func @concat
// CHECK-SAME: %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}
func.func @concat(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x4xf32>) -> tensor<8x20xf32> {
  %0 = tensor.concat dim(1) %arg0, %arg1 : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<8x20xf32>
  return %0 : tensor<8x20xf32>
}

// Numbers have no dims: what is written at a computed offset is needed whole
// there, and the splat is where its use is.
// CHECK-LABEL: func @splat
// CHECK: tensor.splat {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
func.func @splat(%a: f32) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = tensor.splat %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
