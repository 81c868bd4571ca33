// RUN: sdy-opt %s -sdy-export-named-computations | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @main
// CHECK-NEXT: %[[CALL:.*]] = call @f(%arg0) {mhlo.frontend_attributes = {a = "b"}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
// CHECK-NEXT: %[[CALL2:.*]] = call @f_0(%[[CALL]])
// CHECK-NEXT: return %[[CALL2]]
// CHECK: func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
// CHECK-NEXT: return %arg0
// CHECK: func.func private @f_0(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "f"}
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"f">(%arg0) (%arg1: tensor<8xf32>) {
    %4 = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    sdy.return %4 : tensor<8xf32>
  } {mhlo.frontend_attributes = {a = "b"}} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x", ?}]> : tensor<8xf32>
  %2 = sdy.named_computation<"f">(%1) (%arg1: tensor<8xf32>) {
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// What is manual around it is part of what it is.
// CHECK: func.func private @g(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {sdy.func_manual_axes = #sdy<manual_axes{"x"}>, sdy.original_func_name = "g"}
func.func @manual(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    %1 = sdy.named_computation<"g">(%arg1) (%arg2: tensor<4xf32>) {
      sdy.return %arg2 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
