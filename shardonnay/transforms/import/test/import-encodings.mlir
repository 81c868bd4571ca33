// RUN: sdy-opt %s --sdy-import-encodings | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @values
// CHECK-SAME: (%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}, %arg1: tensor<8x8xf32>)
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
// CHECK: stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<8x8xf32>
func.func @values(%a: tensor<8x8xf32, #sdy.sharding<@mesh, [{"x"}, {?}]>>, %b: tensor<8x8xf32>) -> tensor<8x8xf32, #sdy.sharding<@mesh, [{"y"}, {}]>> {
  %0 = stablehlo.add %a, %b : (tensor<8x8xf32, #sdy.sharding<@mesh, [{"x"}, {?}]>>, tensor<8x8xf32>) -> tensor<8x8xf32, #sdy.sharding<@mesh, [{"y"}, {}]>>
  return %0 : tensor<8x8xf32, #sdy.sharding<@mesh, [{"y"}, {}]>>
}

// An inlined mesh; a sharding that is written too; a constant.
// CHECK-LABEL: func @others
// CHECK-SAME: (%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// CHECK: stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x"}]>]>} dense<1.000000e+00> : tensor<8xf32>
func.func @others(%a: tensor<8xf32, #sdy.sharding<@mesh, [{"x"}]>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32, #sdy.sharding<mesh<["x"=2]>, [{"x"}]>>
  return
}

// CHECK-LABEL: func @loop
// CHECK: stablehlo.while(%{{.*}} = %arg0) : tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
func.func @loop(%a: tensor<8xf32, #sdy.sharding<@mesh, [{"x"}]>>) {
  %0 = stablehlo.while(%i = %a) : tensor<8xf32, #sdy.sharding<@mesh, [{"x"}]>>
  cond {
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return %i : tensor<8xf32, #sdy.sharding<@mesh, [{"x"}]>>
  }
  return
}
