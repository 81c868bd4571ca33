// RUN: sdy-opt %s -sdy-emit-stablehlo | FileCheck %s

// What engines do wrong: NaN in their collectives, constants that they compute.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @max_keeps_nan(
func.func @max_keeps_nan(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[BITS:.*]] = stablehlo.bitcast_convert %arg0 : (tensor<4xf32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[IS_NAN:.*]] = stablehlo.compare NE, %arg0, %arg0
  // CHECK-NEXT: %[[NAN:.*]] = stablehlo.constant dense<2143289344> : tensor<4xi32>
  // CHECK-NEXT: %[[ONE_NAN:.*]] = stablehlo.select %[[IS_NAN]], %[[NAN]], %[[BITS]]
  // CHECK-NEXT: %[[WIDTH:.*]] = stablehlo.constant dense<31> : tensor<4xi32>
  // CHECK-NEXT: %[[SIGNS:.*]] = stablehlo.shift_right_arithmetic %[[ONE_NAN]], %[[WIDTH]]
  // CHECK-NEXT: %[[REST:.*]] = stablehlo.constant dense<2147483647> : tensor<4xi32>
  // CHECK-NEXT: %[[MASK:.*]] = stablehlo.and %[[SIGNS]], %[[REST]]
  // CHECK-NEXT: %[[ORDERED:.*]] = stablehlo.xor %[[ONE_NAN]], %[[MASK]]
  // CHECK-NEXT: %[[REDUCED:.*]] = "stablehlo.all_reduce"(%[[ORDERED]])
  // CHECK:        stablehlo.maximum {{.*}} : tensor<i32>
  // CHECK:      (tensor<4xi32>) -> tensor<4xi32>
  // CHECK:      %[[BACK:.*]] = stablehlo.xor %[[REDUCED]],
  // CHECK-NEXT: stablehlo.bitcast_convert %[[BACK]] : (tensor<4xi32>) -> tensor<4xf32>
  %0 = spmd.all_reduce max %a @mesh {"x"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @min_keeps_nan(
func.func @min_keeps_nan(%a: tensor<4xbf16>) -> tensor<2xbf16> {
  // CHECK: stablehlo.constant dense<-64> : tensor<4xi16>
  // CHECK: "stablehlo.reduce_scatter"
  // CHECK:   stablehlo.minimum {{.*}} : tensor<i16>
  // CHECK: (tensor<4xi16>) -> tensor<2xi16>
  // CHECK: stablehlo.bitcast_convert {{.*}} -> tensor<2xbf16>
  %0 = spmd.reduce_scatter min %a dim = 0 @mesh {"x"} : (tensor<4xbf16>) -> tensor<2xbf16>
  return %0 : tensor<2xbf16>
}

// CHECK-LABEL: func.func @complex_sums_are_no_constants(
func.func @complex_sums_are_no_constants(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // CHECK-NEXT: %[[APART:.*]] = stablehlo.optimization_barrier %arg0
  // CHECK-NEXT: "stablehlo.all_reduce"(%[[APART]])
  %0 = spmd.all_reduce %a @mesh {"x"} : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// CHECK-LABEL: func.func @padding_is_no_constant(
func.func @padding_is_no_constant(%a: tensor<2x1xf32>, %p: tensor<f32>) -> tensor<4x1xf32> {
  // CHECK: %[[PADDED:.*]] = stablehlo.pad %arg0
  // CHECK-NEXT: %[[APART:.*]] = stablehlo.optimization_barrier %[[PADDED]]
  // CHECK-NEXT: "stablehlo.all_to_all"(%[[APART]])
  %0 = stablehlo.pad %a, %p, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x2xf32>
  %1 = spmd.all_to_all %0 split_dim=1 concat_dim=0 @mesh {"x"} : (tensor<2x2xf32>) -> tensor<4x1xf32>
  return %1 : tensor<4x1xf32>
}

// CHECK-LABEL: func.func @slices_of_one_element(
func.func @slices_of_one_element(%a: tensor<2x1xf32>) -> tensor<1x2xf32> {
  // CHECK-NEXT: %[[APART:.*]] = stablehlo.optimization_barrier %arg0
  // CHECK-NEXT: "stablehlo.all_to_all"(%[[APART]])
  %0 = spmd.all_to_all %a split_dim=0 concat_dim=1 @mesh {"x"} : (tensor<2x1xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
