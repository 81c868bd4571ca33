// RUN: sdy-opt %s --sdy-add-data-flow-edges | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Inside, the manual axes are not mentioned.
// CHECK-LABEL: func @manual
// CHECK: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y", ?}, {?}]>]
// CHECK-NEXT: %[[IN:.*]] = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"y", ?}, {?}]> : tensor<4x8xf32>
// CHECK-NEXT: sdy.return %[[IN]]
// CHECK: %[[OUT:.*]] = sdy.data_flow_edge %0 sharding=<@mesh, [{"x", ?}, {?}]> : tensor<8x8xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @manual(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y", ?}, {?}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
    sdy.return %arg1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func @named
// CHECK: sdy.named_computation<"f">(%arg0)
// CHECK-NEXT: %[[IN:.*]] = sdy.data_flow_edge %arg1 : tensor<8xf32>
// CHECK-NEXT: sdy.return %[[IN]]
// CHECK: sdy.data_flow_edge %0 : tensor<8xf32>
func.func @named(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"f">(%arg0) (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
