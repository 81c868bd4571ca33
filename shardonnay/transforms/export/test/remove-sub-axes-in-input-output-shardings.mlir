// RUN: sdy-opt %s -sdy-remove-sub-axes-in-input-output-shardings=keep-given=true | FileCheck %s
// RUN: sdy-opt %s -sdy-remove-sub-axes-in-input-output-shardings | FileCheck %s --check-prefix=ALL

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Whole axes stay up to the first sub-axis, in open dims.
// CHECK-LABEL: func @sub_axes
// CHECK-SAME: [{"y", ?}, {?}]
// CHECK-SAME: [{?}, {"x":(1)2}]
func.func @sub_axes(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x":(1)2, ?}, {?}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2, "y", ?}, {"x":(1)2}]>}) {
  return %arg0 : tensor<8x8xf32>
}

// ALL-LABEL: func @sub_axes
// ALL-SAME: [{?}, {"x":(1)2}]
// ALL-LABEL: func @given
// ALL-SAME: sdy.sharding = #sdy.sharding<@mesh, [{?}]>
// CHECK-LABEL: func @given
// CHECK-SAME: sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}]>
func.func @given(
    %arg0: tensor<8xf32> {sdy.given_sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}]>,
                          sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, "y", ?}]>}) {
  return
}

// Only the outside can't say sub-axes.
// CHECK: func private @not_main({{.*}}"x":(1)2
func.func private @not_main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
